"""Relative position representations (Shaw et al., 2018, section 3, https://arxiv.org/abs/1803.02155)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from specc.components.position.base import Position
from specc.ir.node import Dims, Finding, HeadDims, Parameter, structural


class Shaw(Position):
    """Adds to each score the query's product with a learned vector of the distance, and with `of: [q, k]` the key's too.

    In each attention a table, one for all of its heads, holds a vector for each distance key - query from -max_distance to
    max_distance; what is further away shares the outermost. The products have the attention's scale. Values have no such vectors.
    """

    kind: Literal["shaw"] = "shaw"
    max_distance: int = Field(gt=0, le=1 << 16)
    of: tuple[Literal["q", "k"], ...] = structural(("q",))

    def check(self, dims: Dims) -> Iterator[Finding]:
        if not self.of or len(set(self.of)) < len(self.of):
            yield Finding("of", "VAL001", "`of` names q, k or both, each once")

    @property
    def scores(self) -> bool:
        return True

    @property
    def reads_contents(self) -> bool:
        return True

    def shrunk(self, plan) -> Shaw:
        return self.replaced(max_distance=min(self.max_distance, 12))

    def parameters(self, dims: HeadDims) -> tuple[Parameter, ...]:
        return (Parameter("weight", (2 * self.max_distance + 1, dims.head_dim)),)

    def score(self, g, q, k, call, attention):
        """-> [B, H, T, S]"""
        heads, width = attention.heads, attention.head_dim
        places = call.frame.pairs(call.frame.clipped_distance(self.max_distance), heads)
        with g.scope("position"):
            table = g.parameter("weight")  # [P, D]
        found = []
        if "q" in self.of:
            q = g.op("Transpose", g.reshape(q, (0, 0, heads, width)), perm=(0, 2, 1, 3))  # [B, H, T, D]
            each = g.op("MatMul", q, g.op("Transpose", table, perm=(1, 0)))  # [B, H, T, P]
            found.append(g.op("GatherElements", each, places, axis=3))
        if "k" in self.of:
            k = g.op("Transpose", g.reshape(k, (0, 0, heads, width)), perm=(0, 2, 3, 1))  # [B, H, D, S]
            found.append(g.op("GatherElements", g.op("MatMul", table, k), places, axis=2))
        total = found[0] if len(found) == 1 else g.op("Add", *found)
        return g.op("Mul", total, g.number(attention.scale))
