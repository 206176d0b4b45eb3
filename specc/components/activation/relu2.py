"""Squared rectified linear unit (So et al., 2021, https://arxiv.org/abs/2109.08668)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.ir.node import Component


class SquaredRelu(Component):
    """max(x, 0)^2"""

    axis: ClassVar[str] = "activation"
    kind: Literal["relu2"] = "relu2"

    def lower(self, g, x):
        return g.op("Mul", *[g.op("Relu", x)] * 2)
