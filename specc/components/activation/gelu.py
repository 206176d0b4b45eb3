"""Gaussian error linear unit, exact (Hendrycks and Gimpel, 2016, https://arxiv.org/abs/1606.08415)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.ir.node import Component


class Gelu(Component):
    """x * (1 + erf(x / sqrt(2))) / 2"""

    axis: ClassVar[str] = "activation"
    native: ClassVar[dict[str, str]] = {"kind": "Gelu"}
    kind: Literal["gelu"] = "gelu"

    def lower(self, g, x):
        return g.op("Gelu", x)
