"""Root-mean-square normalisation (Zhang and Sennrich, 2019, https://arxiv.org/abs/1910.07467)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.ir.node import Component, Dims, Parameter, structural


class RMSNorm(Component):
    """x / sqrt(mean(x^2) + eps) * (offset + weight), over the last axis.

    offset 1 is Gemma's form: the stored weight is the difference from one.
    """

    axis: ClassVar[str] = "norm"
    native: ClassVar[dict[str, str]] = dict.fromkeys(("kind", "eps"), "RMSNormalization")
    kind: Literal["rms"] = "rms"
    eps: float = Field(gt=0)
    offset: float = structural(0.0)

    def over(self, *shape: int) -> tuple[Parameter, ...]:
        return (Parameter("weight", shape, "zeros" if self.offset else "ones"),)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return self.over(dims.dim)

    def lower(self, g, x, call=None):
        """x [..., C] -> [..., C]"""
        weight = g.parameter("weight")
        if self.offset:
            weight = g.op("Add", weight, g.number(self.offset))  # a vector: ONNX Runtime folds it when it loads
        return g.op("RMSNormalization", x, weight, axis=-1, epsilon=self.eps)
