"""Classification of the whole sequence (Devlin et al., 2018, section 4.1; Radford et al., 2018, section 3.2)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.components.head.base import Head
from specc.components.registry import slot
from specc.ir.node import Dims, Parameter, linear, structural


class Classify(Head):
    """A linear map to the classes from one vector per sequence: the first token's, the last real one's or their mean.

    With an activation the vector first passes activation(dense(vector)).
    """

    kind: Literal["classify"] = "classify"
    positional: ClassVar[tuple[str, ...]] = ("classes",)
    classes: int = Field(gt=0)
    pool: Literal["first", "last", "mean"] = structural()
    activation: slot("activation", optional=True) = None
    bias: bool = structural(True)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        dense = () if self.activation is None else linear("dense", dims.dim, dims.dim, True)
        return dense + linear("classes", dims.dim, self.classes, self.bias)

    def shrunk(self, plan) -> Classify:
        return self.replaced(classes=plan.count(self.classes))

    def flops(self, dims: Dims, context: float) -> int:
        return 0

    def flops_per_sequence(self, dims: Dims) -> int:
        return 2 * sum(p.size for p in self.parameters(dims) if len(p.shape) == 2)

    def output_shape(self, name: str, dims: Dims) -> tuple[int | str, ...]:
        return ("batch", self.classes)

    def lower(self, g, x, call):
        pool = {"first": call.frame.first, "last": call.frame.last, "mean": call.frame.mean}[self.pool]
        x = pool(call.frame.sequences(x))  # [B, C]
        if self.activation is not None:
            x = self.activation.lower(g, g.linear(x, "dense"))
        return {"logits": g.linear(x, "classes")}
