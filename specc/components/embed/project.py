"""A linear map between the width of the tables and the width of the model (Lan et al., 2019, https://arxiv.org/abs/1909.11942)."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from specc.components.embed.base import Part
from specc.ir.node import Component, Dims, Parameter, linear, structural


class Project(Part):
    """x W^T (+ b)"""

    native: ClassVar[dict[str, str]] = dict.fromkeys(("kind", "bias"), "Gemm")
    kind: Literal["project"] = "project"
    takes: ClassVar[int] = 1
    bias: bool = structural(False)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        """dims.dim is the width of what comes in."""
        weight, *bias = linear("", dims.dim, self.width, self.bias)
        return tuple(replace(p, name=p.name.removeprefix(".")) for p in (weight, *bias))

    def flops(self, dims: Dims, context: float) -> int:
        return Component.flops(self, dims, context)

    def lower(self, g, call, x):
        """x [N, width in] -> [N, width]"""
        return g.linear(x, "")
