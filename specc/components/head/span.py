"""Answers as spans of the text (Devlin et al., 2018, section 4.2, https://arxiv.org/abs/1810.04805)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.components.head.base import Transformed
from specc.ir.node import Dims, Parameter, linear, structural


class Span(Transformed):
    """For each token how well an answer would begin there, and how well it would end: two rows of one linear map.

    With an activation, of dense_norm(activation(dense(state))).
    """

    kind: Literal["span"] = "span"
    bias: bool = structural(True)
    outputs: ClassVar[tuple[str, ...]] = ("start_logits", "end_logits")

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return self.dense(dims.dim) + linear("ends", dims.dim, 2, self.bias)

    def output_shape(self, name: str, dims: Dims) -> tuple[int | str, ...]:
        return ("batch", "sequence")

    def lower(self, g, x, call):
        both = call.frame.sequences(g.linear(self.transformed(g, x), "ends"))  # [B, T, 2]
        return {name: g.op("Gather", both, g.integer(n), axis=2) for n, name in enumerate(self.outputs)}
