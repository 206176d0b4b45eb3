"""The masked-language-model head (Devlin et al., 2018, section 3.1, https://arxiv.org/abs/1810.04805)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from specc.components.head.base import Head, scores, table, vocabulary
from specc.components.registry import slot
from specc.ir.node import Dims, Finding, Parameter, linear, structural, under


class MaskedLanguageModel(Head):
    """norm(activation(dense(x))) W^T + bias; dense maps to `width`, the width of the token table."""

    kind: Literal["mlm"] = "mlm"
    tied: bool = structural()
    activation: slot("activation")
    norm: slot("norm")
    dense_bias: bool = structural(True)
    bias: bool = structural(True)
    width: int = Field(gt=0)

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        return {"width": dims.dim, **given}

    def check(self, dims: Dims) -> Iterator[Finding]:
        yield from vocabulary(dims)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        dense = linear("dense", dims.dim, self.width, self.dense_bias) + under("norm", self.norm.over(self.width))
        return dense + table(dims, self.width, self.tied, self.bias)

    def flops(self, dims: Dims, context: float) -> int:
        return 2 * self.width * (dims.dim + (dims.vocab or 0))

    def shrunk(self, plan) -> MaskedLanguageModel:
        return self.replaced(width=plan.width(self.width))

    def lower(self, g, x, call):
        x = self.activation.lower(g, g.linear(x, "dense"))
        with g.scope("norm"):
            x = self.norm.lower(g, x)
        return {"logits": call.frame.sequences(scores(g, x, self.tied, self.bias))}
