"""Prompt tuning (Lester et al., 2021, https://arxiv.org/abs/2104.08691)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from specc.components.adapter.base import Method, Site
from specc.ir.node import Parameter


class Prompt(Method):
    """`length` learned rows in front of the embedded tokens, before the embedding scales them or adds anything to them.

    The first call of a text puts them there, and they count as tokens from then on; what the model gives for them is left out.
    """

    place: ClassVar[Literal["map", "call", "keys", "tokens"]] = "tokens"
    kind: Literal["prompt"] = "prompt"
    positional: ClassVar[tuple[str, ...]] = ("length",)
    length: int = Field(gt=0, le=65_536)

    def refuses(self, site: Site) -> str | None:
        return site.obstacle

    def held(self, site: Site) -> tuple[Parameter, ...]:
        return (Parameter("rows", (self.length, site.width)),)

    def unpacked(self, found: list[Site], tensors: dict[str, Any]) -> dict[str, Any]:
        return {f"{found[0].key}.prompt.rows": tensors.pop("prompt_embeddings")}

    def packed(self, found: list[Site], tensors: dict[str, Any]) -> dict[str, Any]:
        return {"prompt_embeddings": tensors[f"{found[0].key}.prompt.rows"]}

    def taken(self, site: Site) -> dict[str, tuple[tuple[int | str, ...], float]]:
        return {"rows": (("*prompt", site.width), 0.0)}

    def given(self, site: Site, own: dict[str, Any], weight, bias) -> dict[str, Any]:
        return own
