"""Classification of every token (Devlin et al., 2018, section 4, named-entity recognition)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.components.head.base import Transformed
from specc.ir.node import Dims, Parameter, linear, structural, training


class ClassifyTokens(Transformed):
    """A linear map from each token's hidden state to the classes; with an activation, of dense_norm(activation(dense(state)))."""

    kind: Literal["classify_tokens"] = "classify_tokens"
    positional: ClassVar[tuple[str, ...]] = ("classes",)
    classes: int = Field(gt=0)
    bias: bool = structural(True)
    dropout: float = training(0.0, ge=0, lt=1)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return self.dense(dims.dim) + linear("classes", dims.dim, self.classes, self.bias)

    def shrunk(self, plan) -> ClassifyTokens:
        return self.replaced(classes=plan.count(self.classes))

    def output_shape(self, name: str, dims: Dims) -> tuple[int | str, ...]:
        return ("batch", "sequence", self.classes)

    def lower(self, g, x, call):
        return {"logits": call.frame.sequences(g.linear(self.transformed(g, x), "classes"))}
