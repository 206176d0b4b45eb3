"""Hyperbolic tangent."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.ir.node import Component


class Tanh(Component):
    """tanh(x)"""

    axis: ClassVar[str] = "activation"
    native: ClassVar[dict[str, str]] = {"kind": "Tanh"}
    kind: Literal["tanh"] = "tanh"

    def lower(self, g, x):
        return g.op("Tanh", x)
