"""Sparse mixing (Liu, Gao and Chen, 2023, https://arxiv.org/abs/2310.00811; as in Phi-3.5-MoE, https://arxiv.org/abs/2404.14219)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from specc.components.router.base import Chosen
from specc.ir.node import Finding


class SparseMixer(Chosen):
    """The expert with the best logit, then the best of the others; its weight is its softmax among those nearly as good.

    An expert s drops out of that softmax where (best - s) / max(|s|, best) is more than twice the margin. In training both
    experts are drawn from it, and the gradient of the choice is estimated by Heun's third-order method.
    """

    kind: Literal["sparsemixer"] = "sparsemixer"
    margin: float = Field(default=0.01, ge=0)

    def check_experts(self, experts: int, top_k: int) -> Iterator[Finding]:
        yield from super().check_experts(experts, top_k)
        if top_k != 2:
            yield Finding("kind", "SHP008", f"`sparsemixer` chooses two experts, and top_k is {top_k}", "write `top_k: 2`")

    def lower(self, g, x, experts: int, top_k: int, call=None):
        scores = g.op("Gemm", x, g.parameter("weight"), transB=1)  # [N, E]
        size, out = g.op("Abs", scores), g.cast(g.constant(float("-inf"), "float32"))
        best, first = g.best(scores, 1)
        weight = self._weight(g, scores, size, best, scores, first)
        taken = g.op("Equal", first, g.constant(list(range(experts)), "int64"))  # [N, E]
        left = g.op("Where", taken, out, scores)
        best, second = g.best(left, 1)
        weights = g.op("Concat", weight, self._weight(g, scores, size, best, left, second), axis=-1)
        return weights, g.op("Concat", first, second, axis=-1)

    def _weight(self, g, scores, size, best, left, chosen):
        """The weight [N, 1] of the one chosen among `left` [N, E], whose best logit is `best` [N, 1]."""
        short = g.op("Div", g.op("Sub", best, scores), g.op("Max", size, best))
        out = g.cast(g.constant(float("-inf"), "float32"))
        gates = g.op("Where", g.op("Greater", short, g.number(2 * self.margin)), out, left)
        return g.op("GatherElements", g.op("Softmax", gates, axis=-1), chosen, axis=-1)
