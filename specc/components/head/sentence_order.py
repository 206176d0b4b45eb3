"""Whether the second segment follows the first (Devlin et al., 2018, section 3.1, https://arxiv.org/abs/1810.04805)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.components.head.base import Head
from specc.ir.node import Dims, Parameter, linear


class SentenceOrder(Head):
    """classes(tanh(dense(x))) of the first token: class 0 where the segments are in order (ALBERT: in this order)."""

    kind: Literal["sentence_order"] = "sentence_order"
    classes: int = Field(default=2, gt=0)
    outputs: ClassVar[tuple[str, ...]] = ("seq_relationship_logits",)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return linear("dense", dims.dim, dims.dim, True) + linear("classes", dims.dim, self.classes, True)

    def shrunk(self, plan) -> SentenceOrder:
        return self.replaced(classes=plan.count(self.classes))

    def flops(self, dims: Dims, context: float) -> int:
        return 0

    def flops_per_sequence(self, dims: Dims) -> int:
        return 2 * dims.dim * (dims.dim + self.classes)

    def output_shape(self, name: str, dims: Dims) -> tuple[int | str, ...]:
        return ("batch", self.classes)

    def lower(self, g, x, call):
        first = call.frame.first(call.frame.sequences(x))  # [B, C]
        return {"seq_relationship_logits": g.linear(g.op("Tanh", g.linear(first, "dense")), "classes")}
