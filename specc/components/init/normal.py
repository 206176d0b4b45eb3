"""A normal distribution around zero (Radford et al., 2019; Devlin et al., 2018)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.ir.node import Component, training


class Normal(Component):
    """Matrices and tables are normal with this deviation, biases zero, and norms as they are without it."""

    axis: ClassVar[str] = "init"
    kind: Literal["normal"] = "normal"
    positional: ClassVar[tuple[str, ...]] = ("deviation",)
    deviation: float = training(0.02, gt=0)
