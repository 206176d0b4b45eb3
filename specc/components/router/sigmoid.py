"""Sigmoid routing (DeepSeek-AI, 2024, https://arxiv.org/abs/2412.19437, section 2.1.2)."""

from __future__ import annotations

from typing import Literal

from specc.components.router.base import TopK


class Sigmoid(TopK):
    """Each expert is scored on its own."""

    kind: Literal["sigmoid"] = "sigmoid"

    def score(self, g, logits):
        return g.sigmoid(logits)
