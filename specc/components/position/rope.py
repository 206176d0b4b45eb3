"""Rotary position embedding (Su et al., 2021, https://arxiv.org/abs/2104.09864)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from specc.components.position.base import Position
from specc.ir.node import Finding, structural


class Rope(Position):
    """Turns pairs of channels of q and k by an angle that grows with position: position * theta^(-2i / rotated).

    layout half pairs channel i with i + rotated/2 (GPT-NeoX, Llama); interleaved pairs 2i with 2i + 1 (GPT-J, the paper).
    partial: how many channels of each head are turned, the first ones; the others pass unchanged.
    """

    kind: Literal["rope"] = "rope"
    theta: float = Field(default=10_000.0, gt=0)
    layout: Literal["half", "interleaved"] = structural("half")
    partial: int | None = Field(default=None, gt=0)

    def width(self, head_dim: int) -> int:
        """How many channels are turned."""
        return self.partial or head_dim

    def check_heads(self, heads: int, head_dim: int) -> Iterator[Finding]:
        width = self.width(head_dim)
        if width % 2:
            yield Finding("partial", "SHP002", f"rope turns pairs of channels, and {width} is odd")
        if width > head_dim:
            yield Finding("partial", "SHP002", f"rope turns {width} channels, and a head has only {head_dim}")

    def inverse_frequencies(self, head_dim: int):
        """theta^(-2i / rotated) as float32 [rotated / 2], rounded step by step as torch rounds it.

        One unit in the last place is 8e-3 radians at position 131,072: the exponent is rounded to float32, the power taken
        in float64 and rounded, then inverted in float32.
        """
        import numpy as np

        width = self.width(head_dim)
        exponent = np.arange(0, width, 2, dtype=np.float32) / np.float32(width)
        power = np.power(np.float64(self.theta), exponent.astype(np.float64)).astype(np.float32)
        return (np.float32(1.0) / power).astype(np.float32)

    def tables(self, g, frame, width: int):
        """-> cos, sin [B, T, rotated / 2]"""
        angles = g.op("Mul", frame.position_column(), g.constant(self.inverse_frequencies(width)))
        return g.cast(g.op("Cos", angles)), g.cast(g.op("Sin", angles))

    def rotate(self, g, q, k, heads: int, kv_heads: int, width: int, tables):
        options = {"interleaved": int(self.layout == "interleaved")}
        if self.partial is not None and self.partial != width:
            options["rotary_embedding_dim"] = self.partial
        q = g.op("RotaryEmbedding", q, *tables, num_heads=heads, **options)
        return q, g.op("RotaryEmbedding", k, *tables, num_heads=kv_heads, **options)
