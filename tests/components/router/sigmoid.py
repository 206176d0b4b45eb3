"""Sigmoid routing (DeepSeek-AI, 2024, DeepSeek-V3, section 2.1.2, equation 15)."""

from __future__ import annotations

import math

from tests.components.router import base

PROBES = base.probes("sigmoid")


def choose(c, w, x, top_k: int) -> list[tuple[int, float]]:
    return base.choose(c, w, x, top_k, lambda logits: [1 / (1 + math.exp(-logit)) for logit in logits])
