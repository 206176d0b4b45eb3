"""The next-token head (Vaswani et al., 2017, section 3.4; tied as in Press and Wolf, 2016, https://arxiv.org/abs/1608.05859)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from specc.components.head.base import Head, scores, table, vocabulary
from specc.ir.node import Dims, Finding, Parameter, linear, structural


class LanguageModel(Head):
    """logits = scale * (x W^T + bias); softcap s turns each into s * tanh(logit / s) (Gemma 2).

    width: x is first mapped to this width, without a bias (OPT-350m). fixed_bias is a bias that is stored and not learned:
    zeros, as BART and Marian are trained.
    """

    kind: Literal["lm"] = "lm"
    tied: bool = structural()
    scale: float = 1.0
    softcap: float | None = Field(default=None, gt=0)
    bias: bool = structural(False)
    fixed_bias: bool = structural(False)
    width: int | None = Field(default=None, gt=0)

    def check(self, dims: Dims) -> Iterator[Finding]:
        yield from vocabulary(dims)
        if self.scale == 0:
            yield Finding("scale", "VAL004", "a scale of 0 makes every logit zero")
        if self.bias and self.fixed_bias:
            yield Finding("fixed_bias", "TYP005", "a head has one bias, learned or fixed")

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        fixed = (Parameter("bias", (dims.vocab or 0,), "zeros", role="fixed"),) if self.fixed_bias else ()
        if self.width is None:
            return table(dims, dims.dim, self.tied, self.bias, module=not fixed) + fixed
        return linear("project", dims.dim, self.width, bias=False) + table(dims, self.width, self.tied, self.bias) + fixed

    def flops(self, dims: Dims, context: float) -> int:
        width = self.width or dims.dim
        return 2 * width * (dims.vocab or 0) + (2 * width * dims.dim if self.width else 0)

    def shrunk(self, plan) -> LanguageModel:
        width = None if self.width is None else plan.width(self.width)
        return self.replaced(width=width, scale=plan.root(self.scale))

    def lower(self, g, x, call):
        if self.width is not None:
            x = g.linear(x, "project")
        logits = scores(g, x, self.tied, self.bias or self.fixed_bias)
        if self.scale != 1:
            logits = g.op("Mul", logits, g.number(self.scale))
        if self.softcap is not None:
            cap = g.number(self.softcap)
            logits = g.op("Mul", g.op("Tanh", g.op("Div", logits, cap)), cap)
        return {"logits": call.frame.sequences(logits)}
