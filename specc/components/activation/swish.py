"""Swish with its slope (Ramachandran et al., 2017, https://arxiv.org/abs/1710.05941)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.ir.node import Component


class Swish(Component):
    """x * sigmoid(beta x); beta 1 is silu, 1.702 gpt-oss's form."""

    axis: ClassVar[str] = "activation"
    positional: ClassVar[tuple[str, ...]] = ("beta",)
    kind: Literal["swish"] = "swish"
    beta: float

    def lower(self, g, x):
        return g.op("Mul", x, g.op("Sigmoid", g.op("Mul", x, g.number(self.beta))))
