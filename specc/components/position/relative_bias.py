"""A learned bias for each bucket of distances (Raffel et al., 2019, section 2.1, https://arxiv.org/abs/1910.10683)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from specc.components.position.base import Position
from specc.ir.node import Dims, Finding, HeadDims, Parameter, structural


class RelativeBias(Position):
    """Adds to each score a learned number that depends on the head and on the bucket of the distance between query and key.

    The nearer half of the buckets holds one distance each, the others ever more, in equal steps of the logarithm up to
    max_distance; what is further away shares the last one. bidirectional: half of the buckets are for keys that come after
    the query; else those share the bucket of distance 0. shared: one table [buckets, heads] for all layers (T5), or one in
    each layer (UMT5).
    """

    per_head: ClassVar[bool] = True
    beside_absolute: ClassVar[bool] = True
    kind: Literal["relative_bias"] = "relative_bias"
    buckets: int = Field(gt=1)
    max_distance: int = Field(gt=1, le=1 << 16)
    bidirectional: bool = structural()
    shared: bool = structural(True)

    def check(self, dims: Dims) -> Iterator[Finding]:
        if self.buckets % (4 if self.bidirectional else 2):
            what = "each direction has a half of its own, and half of that" if self.bidirectional else "half of them"
            yield Finding("buckets", "SHP010", f"{self.buckets} buckets cannot be halved: {what} is for single distances")
        elif self.max_distance <= self.single:
            yield Finding(
                "max_distance", "SHP010", f"distances up to {self.single} have a bucket each, and max_distance is only {self.max_distance}"
            )

    @property
    def single(self) -> int:
        """How many distances have a bucket of their own."""
        return self.buckets // (4 if self.bidirectional else 2)

    @property
    def scores(self) -> bool:
        return not self.shared

    def shrunk(self, plan) -> RelativeBias:
        buckets = min(self.buckets, 8)
        return self.replaced(buckets=buckets, max_distance=min(self.max_distance, 12)) if buckets % 4 == 0 else self

    def parameters(self, dims: HeadDims) -> tuple[Parameter, ...]:
        return () if self.shared else (Parameter("weight", (self.buckets, dims.heads)),)

    def shared_parameters(self, dims: HeadDims) -> tuple[Parameter, ...]:
        return (Parameter("weight", (self.buckets, dims.heads)),) if self.shared else ()

    def bias(self, g, frame, heads: int):
        """-> [1, H, T, S]"""
        return self._term(g, frame) if self.shared else None

    def score(self, g, q, k, call, attention):
        """-> [1, H, T, S]"""
        if self.shared:
            return None
        with g.scope("position"):
            return self._term(g, call.frame)

    def _term(self, g, frame):
        places = frame.clipped_distance(self.max_distance)  # [T, S]
        by_distance = g.op("Gather", g.parameter("weight"), g.constant(self._bucket_of_each(), "int64"))  # [2 * max_distance + 1, H]
        term = g.op("Gather", g.op("Transpose", by_distance, perm=(1, 0)), places, axis=1)  # [H, T, S]
        return g.op("Unsqueeze", term, g.constant([0], "int64"))

    def _bucket_of_each(self) -> list[int]:
        """The bucket of every distance key - query from -max_distance to max_distance."""
        after = self.buckets // 2 if self.bidirectional else 0
        behind = [self._bucket(distance) for distance in range(self.max_distance + 1)]
        ahead = [after + bucket for bucket in behind[1:]] if self.bidirectional else [0] * self.max_distance
        return behind[::-1] + ahead

    def _bucket(self, distance: int) -> int:
        """The logarithm as the reference takes it, in float32: on the edges of buckets its rounding decides."""
        import numpy as np

        if distance < self.single:
            return distance
        count = self.buckets // 2 if self.bidirectional else self.buckets
        steps = np.log(np.float32(distance) / np.float32(self.single)) / np.float32(np.log(self.max_distance / self.single))
        return min(self.single + int(steps * np.float32(count - self.single)), count - 1)
