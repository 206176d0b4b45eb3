"""Sinusoidal positions (Vaswani et al., 2017, section 3.5, https://arxiv.org/abs/1706.03762)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from specc.components.embed.base import Part
from specc.ir.node import Dims, Finding, Parameter, structural


class SinusoidalPosition(Part):
    """Sines and cosines of position / theta^(2i / width): alternating (interleaved, the paper), or all sines first (half).

    inclusive spaces the frequencies from 1 to exactly 1 / theta (fairseq); the paper stops one step short. rows: how many
    of them are stored in a table that is not learned, instead of being computed (Marian, Pegasus).
    """

    of_images: ClassVar[bool | None] = False
    kind: Literal["sinusoidal_position"] = "sinusoidal_position"
    theta: float = Field(default=10_000.0, gt=1)
    layout: Literal["interleaved", "half"] = structural("interleaved")
    offset: int = Field(default=0, ge=0)
    inclusive: bool = structural(False)
    rows: int | None = Field(default=None, gt=0)

    def check(self, dims: Dims) -> Iterator[Finding]:
        if self.width % 2:
            yield Finding("width", "SHP002", f"sines and cosines come in pairs, and the width {self.width} is odd")
        if self.inclusive and self.width == 2:
            yield Finding("inclusive", "SHP002", "a single sine and cosine have no frequency between the first and the last to space")


    @property
    def length(self) -> int | None:
        """How many positions it knows, None where it computes them."""
        return self.rows

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        if self.rows is None:
            return ()
        return (Parameter("weight", (self.rows + self.offset, self.width), role="fixed", fill=self.table),)

    def inert(self, beside) -> tuple[str, ...]:
        """Numbers that are stored come from the checkpoint."""
        return () if self.rows is None else ("theta", "layout", "inclusive")

    def shrunk(self, plan) -> SinusoidalPosition:
        return self.replaced(width=plan.width(self.width), rows=None if self.rows is None else plan.length(self.rows))

    def table(self):
        """What is stored: float32 [rows + offset, width]"""
        import numpy as np

        angles = np.arange(self.rows + self.offset, dtype=np.float64)[:, None] * self.frequencies().astype(np.float64)
        parts = [np.sin(angles), np.cos(angles)]
        made = np.concatenate(parts, axis=1) if self.layout == "half" else np.stack(parts, axis=2).reshape(len(angles), -1)
        return made.astype(np.float32)

    def frequencies(self):
        """theta^(-i / steps) as float32 [width / 2]"""
        import numpy as np

        half = self.width // 2
        return (float(self.theta) ** (-np.arange(half, dtype=np.float64) / (half - self.inclusive))).astype(np.float32)

    def lower(self, g, call, x=None):
        """-> [N, width]"""
        if self.rows is not None:
            row = call.frame.flat_positions()
            return g.op("Gather", g.parameter("weight"), g.op("Add", row, g.integer(self.offset)) if self.offset else row)
        position = g.op("Cast", call.frame.flat_positions(), to="float32")  # [N]
        if self.offset:
            position = g.op("Add", position, g.constant(float(self.offset), "float32"))
        angles = g.op("Mul", g.reshape(position, (-1, 1)), g.constant(self.frequencies()))  # [N, width / 2]
        sines, cosines = g.op("Sin", angles), g.op("Cos", angles)
        if self.layout == "half":
            return g.cast(g.op("Concat", sines, cosines, axis=-1))
        pairs = [g.reshape(part, (-1, self.width // 2, 1)) for part in (sines, cosines)]
        return g.cast(g.reshape(g.op("Concat", *pairs, axis=-1), (-1, self.width)))
