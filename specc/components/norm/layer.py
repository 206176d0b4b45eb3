"""Layer normalisation (Ba, Kiros and Hinton, 2016, https://arxiv.org/abs/1607.06450)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from specc.ir.node import Component, Dims, Finding, Parameter, structural


class LayerNorm(Component):
    """(x - mean) / sqrt(variance + eps) * (offset + weight) + bias, over the last axis.

    offset 1 is Nemotron's form: the stored weight is the difference from one. Without a weight nothing is scaled (OLMo).
    """

    axis: ClassVar[str] = "norm"
    native: ClassVar[dict[str, str]] = dict.fromkeys(("kind", "eps", "bias"), "LayerNormalization")
    kind: Literal["layer"] = "layer"
    eps: float = Field(gt=0)
    weight: bool = structural(True)
    bias: bool = structural(True)
    offset: float = structural(0.0)

    def check(self, dims: Dims) -> Iterator[Finding]:
        if self.offset and not self.weight:
            yield Finding("offset", "TYP005", "an offset is added to the weight, and this norm has none")

    def over(self, *shape: int) -> tuple[Parameter, ...]:
        weight = (Parameter("weight", shape, "zeros" if self.offset else "ones"),) if self.weight else ()
        return weight + ((Parameter("bias", shape, "zeros"),) if self.bias else ())

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return self.over(dims.dim)

    def lower(self, g, x, call=None):
        """x [..., C] -> [..., C]"""
        weight = g.parameter("weight") if self.weight else g.ones()
        if self.offset:
            weight = g.op("Add", weight, g.number(self.offset))  # a vector: ONNX Runtime folds it when it loads
        return g.op("LayerNormalization", x, weight, *([g.parameter("bias")] if self.bias else []), axis=-1, epsilon=self.eps)
