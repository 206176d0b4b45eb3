"""Softmax routing (Fedus et al., 2021, section 2.1); over the chosen ones alone as in Jiang et al., 2024, section 2.1."""

from __future__ import annotations

import math

from tests.components.probe import Probe, spec
from tests.components.router import base


def _with(rest: str) -> str:
    return spec(ffn=f"moe(experts: 6, top_k: 3, expert: mlp(hidden: 6, activation: relu), router: softmax({rest}))")


PROBES = base.probes("softmax") | {
    "order": (
        Probe(_with(""), _with("order: top_k_first")),
        Probe(_with("bias: true, scale: 2"), _with("bias: true, scale: 2, order: top_k_first")),
        Probe(_with("normalize: true, normalize_eps: 0.2"), _with("normalize: true, normalize_eps: 0.2, order: top_k_first")),
    ),
}


def choose(c, w, x, top_k: int) -> list[tuple[int, float]]:
    return base.choose(c, w, x, top_k, _softmax)


def _softmax(logits: list[float]) -> list[float]:
    shares = [math.exp(logit - max(logits)) for logit in logits]
    return [share / sum(shares) for share in shares]
