"""Root-mean-square normalisation (Zhang and Sennrich, 2019, https://arxiv.org/abs/1910.07467)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from specc.ir.node import Component, Dims, Finding, Parameter, structural


class RMSNorm(Component):
    """x / sqrt(mean(x^2) + eps) * (offset + weight), over the last axis.

    offset 1 is Gemma's form: the stored weight is the difference from one. Without a weight nothing is scaled (Llama 4's L2 norm).
    """

    axis: ClassVar[str] = "norm"
    native: ClassVar[dict[str, str]] = dict.fromkeys(("kind", "eps"), "RMSNormalization")
    kind: Literal["rms"] = "rms"
    eps: float = Field(gt=0)
    weight: bool = structural(True)
    offset: float = structural(0.0)

    @property
    def of_length(self) -> bool:
        """Whether it depends on nothing but a vector's length, and so commutes with turning it."""
        return not self.weight

    def check(self, dims: Dims) -> Iterator[Finding]:
        if self.offset and not self.weight:
            yield Finding("offset", "TYP005", "an offset is added to the weight, and this norm has none")

    def over(self, *shape: int) -> tuple[Parameter, ...]:
        if not self.weight:
            return ()
        return (Parameter("weight", shape, "zeros" if self.offset else "ones"),)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return self.over(dims.dim)

    def lower(self, g, x, call=None):
        """x [..., C] -> [..., C]"""
        weight = g.parameter("weight") if self.weight else g.ones()
        if self.offset:
            weight = g.op("Add", weight, g.number(self.offset))  # a vector: ONNX Runtime folds it when it loads
        return g.op("RMSNormalization", x, weight, axis=-1, epsilon=self.eps)
