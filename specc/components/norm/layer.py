"""Layer normalisation (Ba, Kiros and Hinton, 2016, https://arxiv.org/abs/1607.06450)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.ir.node import Component, Dims, Parameter, structural


class LayerNorm(Component):
    """(x - mean) / sqrt(variance + eps) * weight + bias, over the last axis."""

    axis: ClassVar[str] = "norm"
    kind: Literal["layer"] = "layer"
    eps: float = Field(gt=0)
    bias: bool = structural(True)

    def over(self, *shape: int) -> tuple[Parameter, ...]:
        weight = Parameter("weight", shape, "ones")
        return (weight, Parameter("bias", shape, "zeros")) if self.bias else (weight,)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return self.over(dims.dim)

    def lower(self, g, x, call=None):
        """x [..., C] -> [..., C]"""
        operands = [x, g.parameter("weight")] + ([g.parameter("bias")] if self.bias else [])
        return g.op("LayerNormalization", *operands, axis=-1, epsilon=self.eps)
