"""Gaussian error linear unit, sigmoid approximation (Hendrycks and Gimpel, 2016, section 2)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.ir.node import Component


class QuickGelu(Component):
    """x * sigmoid(1.702 x)"""

    axis: ClassVar[str] = "activation"
    kind: Literal["quick_gelu"] = "quick_gelu"

    def lower(self, g, x):
        return g.op("Mul", x, g.op("Sigmoid", g.op("Mul", x, g.number(1.702))))
