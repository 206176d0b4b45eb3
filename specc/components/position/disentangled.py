"""Disentangled attention (He et al., 2020, section 3.1, https://arxiv.org/abs/2006.03654)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from specc.components.position.base import Position
from specc.components.registry import slot
from specc.ir.node import Dims, Finding, HeadDims, Parameter, linear, structural, under


class Disentangled(Position):
    """Contents score relative positions too: c2p a query the vector of the distance to the key, p2c a key the same vector.

    One table holds a vector as wide as the model for each distance query - key, from -max_distance to max_distance; with
    buckets, those beyond half of them widen in equal steps of the logarithm (DeBERTa-v2). norm normalises the table. Its
    vectors become queries and keys by linear maps of each layer's own, or, without own_maps, by those of the contents. All
    terms have the attention's scale.
    """

    beside_absolute: ClassVar[bool] = True
    kind: Literal["disentangled"] = "disentangled"
    max_distance: int = Field(gt=1, le=1 << 16)
    buckets: int | None = Field(default=None, gt=1, le=1 << 16)
    terms: tuple[Literal["c2p", "p2c"], ...] = structural(("c2p", "p2c"))
    own_maps: bool = structural(True)
    norm: slot("norm", optional=True) = None

    def check(self, dims: Dims) -> Iterator[Finding]:
        if not self.terms or len(set(self.terms)) < len(self.terms):
            yield Finding("terms", "VAL001", "`terms` names c2p, p2c or both, each once")
        if self.buckets is not None and self.buckets % 2:
            yield Finding("buckets", "SHP010", f"{self.buckets} buckets cannot be halved: half of them is for single distances")
        elif self.buckets is not None and self.max_distance <= self.buckets // 2 + 1:
            found = f"distances up to {self.buckets // 2} have a bucket each, and max_distance is only {self.max_distance}"
            yield Finding("max_distance", "SHP010", found)

    @property
    def scores(self) -> bool:
        return True

    @property
    def reads_contents(self) -> bool:
        return True

    @property
    def span(self) -> int:
        """How many vectors there are for each direction."""
        return self.buckets or self.max_distance

    def shrunk(self, plan) -> Disentangled:
        small = {"max_distance": min(self.max_distance, 12), "buckets": self.buckets and min(self.buckets, 8)}
        return self.replaced(**small, norm=self.norm and self.norm.shrunk(plan))

    def parameters(self, dims: HeadDims) -> tuple[Parameter, ...]:
        if not self.own_maps:
            return ()
        maps = {"p2c": "q", "c2p": "k"}
        return tuple(p for term, name in maps.items() if term in self.terms for p in linear(name, dims.dim, dims.heads * dims.head_dim, True))

    def shared_parameters(self, dims: HeadDims) -> tuple[Parameter, ...]:
        norm = () if self.norm is None else under("norm", self.norm.over(dims.dim))
        return (Parameter("weight", (2 * self.span, dims.dim)), *norm)

    def tables(self, g, frame, width: int):
        """-> the vectors [P, C], and which of them is for each query and key [T, S]"""
        vectors = g.parameter("weight")
        if self.norm is not None:
            with g.scope("norm"):
                vectors = self.norm.lower(g, vectors)
        places = g.op("Gather", g.constant(self._place_of_each(), "int64"), frame.clipped_distance(self.max_distance))
        return vectors, places

    def score(self, g, q, k, call, attention):
        """-> [B, H, T, S]"""
        vectors, places = call.tables
        heads, width = attention.heads, attention.head_dim
        places = call.frame.pairs(places, heads)

        def mapped(name: str):
            """The vectors as queries or keys: -> [H, P, D]"""
            if self.own_maps:
                with g.scope("position"):
                    made = g.linear(vectors, name)
            else:
                made = g.linear(vectors, name)
            return g.op("Transpose", g.reshape(made, (-1, heads, width)), perm=(1, 0, 2))

        def split(x):
            """x [B, *, H*D] -> [B, *, H, D]"""
            return g.reshape(x, (0, 0, heads, width))

        found = []
        if "c2p" in self.terms:
            each = g.op("MatMul", g.op("Transpose", split(q), perm=(0, 2, 1, 3)), g.op("Transpose", mapped("k"), perm=(0, 2, 1)))  # [B, H, T, P]
            found.append(g.op("GatherElements", each, places, axis=3))
        if "p2c" in self.terms:
            each = g.op("MatMul", mapped("q"), g.op("Transpose", split(k), perm=(0, 2, 3, 1)))  # [B, H, P, S]
            found.append(g.op("GatherElements", each, places, axis=2))
        total = found[0] if len(found) == 1 else g.op("Add", *found)
        return g.op("Mul", total, g.number(attention.scale))

    def _place_of_each(self) -> list[int]:
        """The row of the table for every distance key - query from -max_distance to max_distance."""
        rows = [self._signed(-ahead) + self.span for ahead in range(-self.max_distance, self.max_distance + 1)]
        return [min(max(row, 0), 2 * self.span - 1) for row in rows]

    def _signed(self, distance: int) -> int:
        """The number of a distance query - key. The logarithm as the reference takes it, in float32: on edges its rounding decides."""
        import numpy as np

        half = (self.buckets or 0) // 2
        if self.buckets is None or abs(distance) <= half:
            return distance
        far = np.log(np.float32(abs(distance)) / np.float32(half)) / np.log(np.float32((self.max_distance - 1) / half))
        number = int(np.ceil(far * np.float32(half - 1))) + half
        return number if distance > 0 else -number
