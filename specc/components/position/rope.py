"""Rotary position embedding (Su et al., 2021, https://arxiv.org/abs/2104.09864)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from specc.components.position.base import Position
from specc.components.registry import slot
from specc.components.scaling.base import inverse
from specc.ir.node import Dims, Finding, structural


class Rope(Position):
    """Turns pairs of channels of q and k by an angle that grows with position: position * theta^(-2i / rotated).

    layout half pairs channel i with i + rotated/2 (GPT-NeoX, Llama); interleaved pairs 2i with 2i + 1 (GPT-J, the paper).
    partial: how many channels of each head are turned, the first ones; the others pass unchanged.
    backward: the other way round (nanochat).
    """

    native: ClassVar[dict[str, str]] = dict.fromkeys(("kind", "layout", "partial"), "RotaryEmbedding")
    kind: Literal["rope"] = "rope"
    theta: float = Field(default=10_000.0, gt=0)
    layout: Literal["half", "interleaved"] = structural("half")
    partial: int | None = Field(default=None, gt=0)
    backward: bool = structural(False)
    scaling: slot("scaling", optional=True) = None

    def shrunk(self, plan) -> Rope:
        partial = None if self.partial is None else plan.head_width(self.partial)
        return self.replaced(partial=partial, scaling=None if self.scaling is None else self.scaling.shrunk(plan))

    def width(self, head_dim: int) -> int:
        """How many channels are turned."""
        return self.partial or head_dim

    def inert(self, beside) -> tuple[str, ...]:
        """A single pair turns by the position itself: there is nothing to order, and no slower pair."""
        width = self.width(beside.head_dim)
        of_scaling = () if self.scaling is None else self.scaling.inert_at(self.theta, width)
        return (*(("theta", "layout") if width == 2 else ()), *(f"scaling.{name}" for name in of_scaling))

    def check(self, dims: Dims) -> Iterator[Finding]:
        if self.scaling is not None:
            yield from self.scaling.check_base(self.theta)

    def check_heads(self, heads: int, head_dim: int) -> Iterator[Finding]:
        width = self.width(head_dim)
        if width % 2:
            yield Finding("partial", "SHP002", f"rope turns pairs of channels, and {width} is odd")
        if width > head_dim:
            yield Finding("partial", "SHP002", f"rope turns {width} channels, and a head has only {head_dim}")
        if self.scaling is not None:
            yield from self.scaling.check_width(width)

    def tables(self, g, frame, width: int):
        """-> cos, sin [B, T, rotated / 2]"""
        turned = self.width(width)
        if self.scaling is None:
            frequencies, amplitude = g.constant(inverse(self.theta, turned)), 1.0
        else:
            frequencies, amplitude = self.scaling.frequencies(g, frame, self.theta, turned), self.scaling.amplitude()
        angles = g.op("Mul", frame.position_column(), frequencies)
        made = [g.op("Cos", angles), g.op("Sin", angles)]
        if self.backward:
            made[1] = g.op("Neg", made[1])
        if amplitude != 1:
            made = [g.op("Mul", x, g.constant(amplitude, "float32")) for x in made]
        return g.cast(made[0]), g.cast(made[1])

    def rotate(self, g, q, k, heads: int, kv_heads: int, width: int, tables):
        options = {"interleaved": int(self.layout == "interleaved")}
        if self.partial is not None and self.partial != width:
            options["rotary_embedding_dim"] = self.partial
        q = g.op("RotaryEmbedding", q, *tables, num_heads=heads, **options)
        return q, None if k is None else g.op("RotaryEmbedding", k, *tables, num_heads=kv_heads, **options)

    def score_factor(self) -> float:
        return 1.0 if self.scaling is None else self.scaling.score_factor()
