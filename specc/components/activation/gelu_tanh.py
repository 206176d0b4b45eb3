"""Gaussian error linear unit, tanh approximation (Hendrycks and Gimpel, 2016, section 2)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.ir.node import Component


class GeluTanh(Component):
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))"""

    axis: ClassVar[str] = "activation"
    native: ClassVar[dict[str, str]] = {"kind": "Gelu"}
    kind: Literal["gelu_tanh"] = "gelu_tanh"

    def lower(self, g, x):
        return g.op("Gelu", x, approximate="tanh")
