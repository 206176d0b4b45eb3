"""Rotary position embedding whose sines and cosines are a stored table (RoFormer's published code)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from specc.components.position.base import Position
from specc.ir.node import Finding, HeadDims, Parameter, structural


class StoredRope(Position):
    """As rope, but the angles come from a table [length, head width]: the sines of a position, then its cosines.

    The table is fixed, and where training left it alone it says what rope with theta 10,000 computes. layout as in rope.
    """

    kind: Literal["stored_rope"] = "stored_rope"
    length: int = Field(gt=0)
    layout: Literal["half", "interleaved"] = structural()

    @property
    def partial(self) -> None:
        """All channels are turned."""
        return None

    def check_heads(self, heads: int, head_dim: int) -> Iterator[Finding]:
        if head_dim % 2:
            yield Finding("kind", "SHP002", f"rope turns pairs of channels, and {head_dim} is odd")

    def inert(self, beside) -> tuple[str, ...]:
        return ("layout",) if beside.head_dim == 2 else ()

    def shrunk(self, plan) -> StoredRope:
        return self.replaced(length=plan.length(self.length))

    def shared_parameters(self, dims: HeadDims) -> tuple[Parameter, ...]:
        return (Parameter("weight", (self.length, dims.head_dim), role="fixed"),)

    def tables(self, g, frame, width: int):
        """-> cos, sin [B, T, D / 2]"""
        rows = g.op("Gather", g.parameter("weight"), frame.positions)  # [B, T, D]
        sines, cosines = g.ops("Split", rows, g.constant([width // 2, width // 2], "int64"), outputs=2, axis=-1)
        return cosines, sines

    def rotate(self, g, q, k, heads: int, kv_heads: int, width: int, tables):
        options = {"interleaved": int(self.layout == "interleaved")}
        return tuple(None if x is None else g.op("RotaryEmbedding", x, *tables, num_heads=n, **options) for x, n in ((q, heads), (k, kv_heads)))
