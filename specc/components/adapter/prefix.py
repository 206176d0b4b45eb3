"""Prefix tuning (Li and Liang, 2021, https://arxiv.org/abs/2101.00190)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from specc.components.adapter.base import Method, Site
from specc.ir.node import Parameter, linear, structural

PUBLISHED = "prompt_embeddings"


class Prefix(Method):
    """`length` learned keys and values in front of those of every attention, which all queries see.

    They stand behind the position scheme, as kept keys do: nothing turns them. In a causal stack the tokens' positions count
    them; in a bidirectional one tokens keep their columns. reparameterised: while it is trained, all of them come out of
    outer(tanh(inner(table))), whose inner width this is.
    """

    place: ClassVar[Literal["map", "call", "keys", "tokens"]] = "keys"
    kind: Literal["prefix"] = "prefix"
    positional: ClassVar[tuple[str, ...]] = ("length",)
    length: int = Field(gt=0)
    reparameterised: int | None = structural(None)

    def refuses(self, site: Site) -> str | None:
        return site.obstacle

    def held(self, site: Site) -> tuple[Parameter, ...]:
        if self.reparameterised is not None:
            return ()
        return tuple(Parameter(name, (site.heads, self.length, site.head_dim)) for name in ("key", "value"))

    def shared(self, found: list[Site]) -> tuple[Parameter, ...]:
        if self.reparameterised is None:
            return ()
        width, inner = found[0].width, self.reparameterised
        total = sum(2 * site.heads * site.head_dim for site in found)
        return (Parameter("table", (self.length, width)), *linear("inner", width, inner, True), *linear("outer", inner, total, True))

    def settled(self, found: list[Site], tensors: dict[str, Any]) -> dict[str, Any]:
        """What is left of the reparameterisation when training is over."""
        if self.reparameterised is None:
            return tensors
        import numpy as np

        of = {name.removeprefix("prefix."): tensors[name] for name in tensors if name.startswith("prefix.")}
        hidden = np.tanh(of["table"] @ of["inner.weight"].T + of["inner.bias"])
        rows = hidden @ of["outer.weight"].T + of["outer.bias"]  # [P, 2 * layers * K * D]
        return {name: t for name, t in tensors.items() if not name.startswith("prefix.")} | self.unpacked(found, {PUBLISHED: rows})

    def unpacked(self, found: list[Site], tensors: dict[str, Any]) -> dict[str, Any]:
        """prompt_embeddings [P, layers * 2 * K * D], of each layer its keys and then its values"""
        rows, made, at = tensors.pop(PUBLISHED), {}, 0
        for site in found:
            for name in ("key", "value"):
                part = rows[:, at : at + site.heads * site.head_dim]
                made[f"{site.key}.prefix.{name}"] = part.reshape(len(rows), site.heads, site.head_dim).swapaxes(0, 1)
                at += site.heads * site.head_dim
        return made

    def packed(self, found: list[Site], tensors: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        parts = [tensors[f"{site.key}.prefix.{name}"] for site in found for name in ("key", "value")]
        return {PUBLISHED: np.concatenate([part.swapaxes(0, 1).reshape(self.length, -1) for part in parts], axis=1)}

    def taken(self, site: Site) -> dict[str, tuple[tuple[int | str, ...], float]]:
        return dict.fromkeys(("key", "value"), ((site.heads, "*prefix", site.head_dim), 0.0))

    def given(self, site: Site, own: dict[str, Any], weight, bias) -> dict[str, Any]:
        return own
