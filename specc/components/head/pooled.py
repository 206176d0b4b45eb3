"""One vector for the whole sequence (Devlin et al., 2018; Reimers and Gurevych, 2019, https://arxiv.org/abs/1908.10084)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.components.head.base import Head
from specc.ir.node import Dims, Parameter, linear, structural


class Pooled(Head):
    """mean: the mean over real tokens. first: the first token. tanh_first: tanh of a linear map of the first (BERT's pooler)."""

    kind: Literal["pooled"] = "pooled"
    positional: ClassVar[tuple[str, ...]] = ("pool",)
    pool: Literal["mean", "first", "tanh_first"] = structural()
    outputs: ClassVar[tuple[str, ...]] = ("last_hidden_state", "pooler_output")

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return linear("dense", dims.dim, dims.dim, True) if self.pool == "tanh_first" else ()

    def flops(self, dims: Dims, context: float) -> int:
        return 0

    def flops_per_sequence(self, dims: Dims) -> int:
        return 2 * sum(p.size for p in self.parameters(dims) if len(p.shape) == 2)

    def output_shape(self, name: str, dims: Dims) -> tuple[int | str, ...]:
        return ("batch", dims.dim) if name == "pooler_output" else ("batch", "sequence", dims.dim)

    def lower(self, g, x, call):
        hidden = call.frame.sequences(x)
        pooled = call.frame.mean(hidden) if self.pool == "mean" else call.frame.first(hidden)  # [B, C]
        if self.pool == "tanh_first":
            pooled = g.op("Tanh", g.linear(pooled, "dense"))
        return {"last_hidden_state": hidden, "pooler_output": pooled}
