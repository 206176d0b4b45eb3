"""Rectified linear unit (Nair and Hinton, 2010)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.ir.node import Component


class Relu(Component):
    """max(x, 0)"""

    axis: ClassVar[str] = "activation"
    native: ClassVar[dict[str, str]] = {"kind": "Relu"}
    kind: Literal["relu"] = "relu"

    def homogeneous(self) -> bool:
        return True

    def lower(self, g, x):
        return g.op("Relu", x)
