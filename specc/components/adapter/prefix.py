"""Prefix tuning (Li and Liang, 2021, https://arxiv.org/abs/2101.00190)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from specc.components.adapter.base import Method, Site
from specc.ir.node import Parameter, linear, structural

PUBLISHED, NAMES = "prompt_embeddings", ("key", "value")


def _of_decoder(layers: int) -> list[int]:
    """Which pair of keys and values each layer of a decoder has in peft, which lays the pairs out twice and deals two to a layer,
    the second for a cross attention that then makes no use of it."""
    return [2 * number % layers for number in range(layers)]



class Prefix(Method):
    """`length` learned keys and values in front of those of every attention, which all queries see.

    They stand behind the position scheme, as kept keys do: nothing turns them. In a causal stack the tokens' positions count
    them; in a bidirectional one tokens keep their columns. reparameterised: while it is trained, all of them come out of
    outer(tanh(inner(table))), whose inner width this is.
    """

    place: ClassVar[Literal["map", "call", "keys", "tokens"]] = "keys"
    kind: Literal["prefix"] = "prefix"
    positional: ClassVar[tuple[str, ...]] = ("length",)
    length: int = Field(gt=0, le=65_536)
    reparameterised: Annotated[int, Field(gt=0, le=65_536)] | None = structural(None)

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
        return {name: t for name, t in tensors.items() if not name.startswith("prefix.")} | self._cut(found, rows)

    def unpacked(self, found: list[Site], tensors: dict[str, Any]) -> dict[str, Any]:
        """prompt_embeddings [P, layers * 2 * K * D], of each layer its keys and then its values"""
        made = self._cut(found, tensors.pop(PUBLISHED))
        if not found[0].key.startswith("decoder."):
            return made
        pairs = [(made[f"{site.key}.prefix.key"], made[f"{site.key}.prefix.value"]) for site in found]
        chosen = [pairs[n] for n in _of_decoder(len(found))]
        return {f"{site.key}.prefix.{name}": part for site, pair in zip(found, chosen, strict=True) for name, part in zip(NAMES, pair, strict=True)}

    def _cut(self, found: list[Site], rows: Any) -> dict[str, Any]:
        made, at = {}, 0
        for site in found:
            for name in NAMES:
                part = rows[:, at : at + site.heads * site.head_dim]
                made[f"{site.key}.prefix.{name}"] = part.reshape(len(rows), site.heads, site.head_dim).swapaxes(0, 1)
                at += site.heads * site.head_dim
        return made

    def packed(self, found: list[Site], tensors: dict[str, Any]) -> dict[str, Any] | None:
        """The way back; None where peft's layout has not a pair for each layer."""
        import numpy as np

        pairs = [tuple(tensors[f"{site.key}.prefix.{name}"] for name in NAMES) for site in found]
        if found[0].key.startswith("decoder."):
            given, pairs = pairs, [tuple(np.zeros_like(part) for part in pair) for pair in pairs]
            for pair, n in zip(given, _of_decoder(len(found)), strict=True):
                pairs[n] = pair
            if not all(np.array_equal(a, b) for n, pair in zip(_of_decoder(len(found)), given, strict=True) for a, b in zip(pairs[n], pair, strict=True)):
                return None
        parts = [part.swapaxes(0, 1).reshape(self.length, -1) for pair in pairs for part in pair]
        return {PUBLISHED: np.concatenate(parts, axis=1)}

    def taken(self, site: Site) -> dict[str, tuple[tuple[int | str, ...], float]]:
        return dict.fromkeys(("key", "value"), ((site.heads, "*prefix", site.head_dim), 0.0))

    def given(self, site: Site, own: dict[str, Any], weight, bias) -> dict[str, Any]:
        return own
