"""Sparse mixing without sampling (Liu, Gao and Chen, 2023, section 4; masks as Phi-3.5-MoE's code has them)."""

from __future__ import annotations

import math

from tests.components.probe import Draw, Probe, spec


def _with(rest: str, experts: int = 6) -> str:
    return spec(ffn=f"moe(experts: {experts}, top_k: 2, expert: gated(hidden: 6, activation: silu), router: sparsemixer({rest}))")


PROBES = {
    "margin": (
        Probe(_with("margin: 0.01"), _with("margin: 0.3")),
        Probe(_with("margin: 0.2"), _with("margin: 0.6"), Draw({"*.router.weight": 0.3})),
    ),
}


def choose(c, w, x, top_k: int) -> list[tuple[int, float]]:
    logits = [float(row @ x) for row in w["weight"]]
    first = max(range(len(logits)), key=lambda e: logits[e])
    others = [e for e in range(len(logits)) if e != first]
    second = max(others, key=lambda e: logits[e])
    return [(first, _share(c, logits, range(len(logits)), first)), (second, _share(c, logits, others, second))]


def _share(c, logits: list[float], among, chosen: int) -> float:
    best = logits[chosen]
    staying = [e for e in among if not (best - logits[e]) / max(abs(logits[e]), best) > 2 * c.margin]
    return math.exp(best) / sum(math.exp(logits[e]) for e in staying)
