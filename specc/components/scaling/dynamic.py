"""Dynamic NTK-aware scaling (bloc97 and emozilla, 2023; transformers, `_compute_dynamic_ntk_parameters`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from specc.components.scaling.base import Scaling, inverse
from specc.ir.node import Dims, Finding


class Dynamic(Scaling):
    """Past `original` positions the base grows with the length L of the call:

    theta * (factor * L / original - (factor - 1)) ^ (width / (width - 2)).
    """

    by_longest: ClassVar[bool] = True
    kind: Literal["dynamic"] = "dynamic"
    factor: float = Field(gt=0)
    original: int = Field(gt=0)

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        return given if dims.context is None else {"original": dims.context, **given}

    def check_width(self, width: int) -> Iterator[Finding]:
        if width == 2:
            yield Finding("factor", "SHP002", "dynamic scaling slows the pairs of channels after the first, and rope turns one pair only")

    def frequencies(self, g, frame, theta: float, width: int):
        import numpy as np

        length = g.op("Max", frame.longest(), g.constant(float(self.original), "float32"))  # scalar
        stretch = g.op("Sub", g.op("Div", g.op("Mul", length, g.constant(self.factor, "float32")), g.constant(float(self.original), "float32")), g.constant(self.factor - 1, "float32"))
        base = g.op("Mul", g.op("Pow", stretch, g.constant(width / (width - 2), "float32")), g.constant(theta, "float32"))
        exponent = g.constant(np.arange(0, width, 2, dtype=np.float32) / np.float32(width))
        longer = g.op("Div", g.constant(1.0, "float32"), g.op("Pow", base, exponent))
        within = g.op("LessOrEqual", frame.longest(), g.constant(float(self.original), "float32"))
        return g.op("Where", within, g.constant(inverse(theta, width)), longer)
