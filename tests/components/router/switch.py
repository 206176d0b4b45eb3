"""Switch routing (Fedus et al., 2021, equations 1 to 3): the best expert, its softmax as weight, as long as it has room."""

from __future__ import annotations

import math

from tests.components.probe import Probe, spec


def _with(rest: str, experts: int = 3, **fields: object) -> str:
    return spec(ffn=f"moe(experts: {experts}, top_k: 1, expert: mlp(hidden: 6, activation: relu), router: switch({rest}))", **fields)


PROBES = {
    "capacity": (
        Probe(_with("capacity: 2"), _with("capacity: 4")),
        Probe(_with("1"), _with("100")),
        Probe(_with("3", mask="bidirectional"), _with("4", mask="bidirectional")),
    ),
    "bias": (Probe(_with("capacity: 3"), _with("capacity: 3, bias: true")),),
}


def assign(c, w, x, top_k: int) -> list[list[list[tuple[int, float]]]]:
    routes = []
    for row in x:
        room, found = [c.capacity] * len(w["weight"]), []
        for token in row:
            logits = [float(line @ token) for line in w["weight"]]
            if c.bias:
                logits = [logit + float(b) for logit, b in zip(logits, w["bias"], strict=True)]
            best = max(range(len(logits)), key=lambda e: logits[e])
            weight = 1 / sum(math.exp(logit - logits[best]) for logit in logits)
            found.append([(best, weight)] if room[best] > 0 else [])
            room[best] -= 1
        routes.append(found)
    return routes
