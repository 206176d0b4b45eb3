"""Classification by the class token and the distillation token (Touvron et al., 2020, section 4, https://arxiv.org/abs/2012.12877)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from specc.components.head.base import Head
from specc.ir.node import Dims, Finding, Parameter, linear, structural


class ClassifyDistilled(Head):
    """The mean of two classifiers: a linear map of the first token, and another one of the second."""

    kind: Literal["classify_distilled"] = "classify_distilled"
    positional: ClassVar[tuple[str, ...]] = ("classes",)
    classes: int = Field(gt=0)
    bias: bool = structural(True)

    def check(self, dims: Dims) -> Iterator[Finding]:
        if dims.leading < 2:
            yield Finding("kind", "IMG001", "this head reads a class token and a distillation token, and the model has no such two in front of its patches")

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return linear("classes", dims.dim, self.classes, self.bias) + linear("distilled", dims.dim, self.classes, self.bias)

    def shrunk(self, plan) -> ClassifyDistilled:
        return self.replaced(classes=plan.count(self.classes))

    def flops(self, dims: Dims, context: float) -> int:
        return 0

    def flops_per_sequence(self, dims: Dims) -> int:
        return 4 * dims.dim * self.classes

    def output_shape(self, name: str, dims: Dims) -> tuple[int | str, ...]:
        return ("batch", self.classes)

    def lower(self, g, x, call):
        hidden = call.frame.sequences(x)
        by_class = g.linear(call.frame.first(hidden), "classes")
        by_teacher = g.linear(g.op("Gather", hidden, g.integer(1), axis=1), "distilled")
        return {"logits": g.op("Mul", g.op("Add", by_class, by_teacher), g.number(0.5))}
