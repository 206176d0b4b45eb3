"""Sinusoidal positions (Vaswani et al., 2017, section 3.5, https://arxiv.org/abs/1706.03762)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from specc.components.embed.base import Part
from specc.ir.node import Dims, Finding, structural


class SinusoidalPosition(Part):
    """Sines and cosines of position / theta^(2i / width): alternating (interleaved, the paper), or all sines first (half).

    inclusive spaces the frequencies from 1 to exactly 1 / theta (fairseq); the paper stops one step short.
    """

    of_images: ClassVar[bool | None] = False
    kind: Literal["sinusoidal_position"] = "sinusoidal_position"
    theta: float = Field(default=10_000.0, gt=1)
    layout: Literal["interleaved", "half"] = structural("interleaved")
    offset: int = Field(default=0, ge=0)
    inclusive: bool = structural(False)

    def check(self, dims: Dims) -> Iterator[Finding]:
        if self.width % 2:
            yield Finding("width", "SHP002", f"sines and cosines come in pairs, and the width {self.width} is odd")
        if self.inclusive and self.width == 2:
            yield Finding("inclusive", "SHP002", "a single sine and cosine have no frequency between the first and the last to space")

    def frequencies(self):
        """theta^(-i / steps) as float32 [width / 2]"""
        import numpy as np

        half = self.width // 2
        return (float(self.theta) ** (-np.arange(half, dtype=np.float64) / (half - self.inclusive))).astype(np.float32)

    def lower(self, g, call, x=None):
        """-> [N, width]"""
        position = g.op("Cast", call.frame.flat_positions(), to="float32")  # [N]
        if self.offset:
            position = g.op("Add", position, g.constant(float(self.offset), "float32"))
        angles = g.op("Mul", g.reshape(position, (-1, 1)), g.constant(self.frequencies()))  # [N, width / 2]
        sines, cosines = g.op("Sin", angles), g.op("Cos", angles)
        if self.layout == "half":
            return g.cast(g.op("Concat", sines, cosines, axis=-1))
        pairs = [g.reshape(part, (-1, self.width // 2, 1)) for part in (sines, cosines)]
        return g.cast(g.reshape(g.op("Concat", *pairs, axis=-1), (-1, self.width)))
