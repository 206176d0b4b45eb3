"""Softmax routing (Shazeer et al., 2017, https://arxiv.org/abs/1701.06538; Fedus et al., 2021)."""

from __future__ import annotations

from typing import Literal

from specc.components.router.base import Router


class Softmax(Router):
    """Scores are the softmax over all experts, or with top_k_first over the chosen ones alone (Mixtral, gpt-oss)."""

    kind: Literal["softmax"] = "softmax"

    def score(self, g, logits):
        return g.op("Softmax", logits, axis=-1)
