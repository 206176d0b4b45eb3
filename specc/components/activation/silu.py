"""Sigmoid linear unit, also called swish (Elfwing et al., 2017, https://arxiv.org/abs/1702.03118)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.ir.node import Component


class Silu(Component):
    """x * sigmoid(x)"""

    axis: ClassVar[str] = "activation"
    kind: Literal["silu"] = "silu"

    def lower(self, g, x):
        return g.op("Mul", x, g.op("Sigmoid", x))  # ONNX Runtime fuses this form; its Swish is three times slower
