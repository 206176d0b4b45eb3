"""Sigmoid routing (DeepSeek-AI, 2024, https://arxiv.org/abs/2412.19437, section 2.1.2)."""

from __future__ import annotations

from typing import Literal

from specc.components.router.base import TopK


class Sigmoid(TopK):
    """Each expert is scored on its own."""

    kind: Literal["sigmoid"] = "sigmoid"

    def score(self, g, logits):
        # not Sigmoid: ONNX Runtime's is exactly 0 from -18 on, and normalised weights are quotients of such small scores
        return g.op("Reciprocal", g.op("Add", g.op("Exp", g.op("Neg", logits)), g.number(1.0)))
