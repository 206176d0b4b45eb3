"""One vector for the whole sequence (Devlin et al., 2018; Reimers and Gurevych, 2019, https://arxiv.org/abs/1908.10084)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from specc.components.head.base import Head, check_pools, pooled, with_leading
from specc.components.registry import slot
from specc.ir.node import Dims, Finding, Parameter, linear, structural, under


class Pooled(Head):
    """mean: the mean over real tokens. first: the first token. tanh_first: tanh of a linear map of the first (BERT's pooler).

    mean_patches: the mean over an image's tokens behind the `leading` first ones. A norm normalises the vector.
    """

    kind: Literal["pooled"] = "pooled"
    positional: ClassVar[tuple[str, ...]] = ("pool",)
    pool: Literal["mean", "first", "tanh_first", "mean_patches"] = structural()
    leading: int = structural(0)
    norm: slot("norm", optional=True) = None
    outputs: ClassVar[tuple[str, ...]] = ("last_hidden_state", "pooler_output")

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        return with_leading(given, dims)

    def check(self, dims: Dims) -> Iterator[Finding]:
        yield from check_pools((self.pool,), self.leading, dims)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        norm = () if self.norm is None else under("norm", self.norm.over(dims.dim))
        return norm + (linear("dense", dims.dim, dims.dim, True) if self.pool == "tanh_first" else ())

    def flops(self, dims: Dims, context: float) -> int:
        return 0

    def flops_per_sequence(self, dims: Dims) -> int:
        return 2 * sum(p.size for p in self.parameters(dims) if len(p.shape) == 2)

    def output_shape(self, name: str, dims: Dims) -> tuple[int | str, ...]:
        return ("batch", dims.dim) if name == "pooler_output" else ("batch", "sequence", dims.dim)

    def lower(self, g, x, call):
        hidden = call.frame.sequences(x)
        vector = pooled(g, call, hidden, (self.pool.removeprefix("tanh_"),), self.leading)  # [B, C]
        if self.norm is not None:
            with g.scope("norm"):
                vector = self.norm.lower(g, vector)
        if self.pool == "tanh_first":
            vector = g.op("Tanh", g.linear(vector, "dense"))
        return {"last_hidden_state": hidden, "pooler_output": vector}
