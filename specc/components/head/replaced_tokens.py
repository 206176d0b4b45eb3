"""Which tokens were replaced (Clark et al., 2020, section 2, https://arxiv.org/abs/2003.10555)."""

from __future__ import annotations

from typing import Literal

from specc.components.head.base import Head
from specc.components.registry import slot
from specc.ir.node import Dims, Parameter, linear


class ReplacedTokens(Head):
    """One score for each token, score(activation(dense(x))): positive where it was replaced."""

    kind: Literal["replaced_tokens"] = "replaced_tokens"
    activation: slot("activation")

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return linear("dense", dims.dim, dims.dim, True) + linear("score", dims.dim, 1, True)

    def output_shape(self, name: str, dims: Dims) -> tuple[int | str, ...]:
        return ("batch", "sequence")

    def lower(self, g, x, call):
        scores = g.linear(self.activation.lower(g, g.linear(x, "dense")), "score")  # [N, 1]
        return {"logits": g.op("Squeeze", call.frame.sequences(scores), g.constant([2], "int64"))}
