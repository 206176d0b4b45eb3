"""Expert choice (Zhou et al., 2022, equations 1 and 2): S = softmax(X W), and expert i takes the k = n c / e tokens with the largest S[:, i]."""

from __future__ import annotations

import math

from tests.components.probe import Case, spec


def _with(router: str, top_k: int = 2, **fields: object) -> str:
    return spec(ffn=f"moe(experts: 4, top_k: {top_k}, expert: mlp(hidden: 6, activation: relu), router: {router})", **fields)


CASES = (
    Case(_with("expert_choice"), (_with("softmax"), _with("softmax(normalize: true)"), _with("expert_choice", top_k=1))),
    Case(_with("expert_choice", top_k=1), (_with("switch(capacity: 6)", top_k=1), _with("softmax", top_k=1))),
)


def assign(c, w, x, top_k: int) -> list[list[list[tuple[int, float]]]]:
    batch, length, _ = x.shape
    tokens = [(b, t) for b in range(batch) for t in range(length)]
    scores = {}
    for b, t in tokens:
        shares = [math.exp(float(row @ x[b, t])) for row in w["weight"]]
        scores[b, t] = [share / sum(shares) for share in shares]
    experts = len(w["weight"])
    count = max(1, math.floor(len(tokens) * top_k / experts))
    routes: list[list[list[tuple[int, float]]]] = [[[] for _ in range(length)] for _ in range(batch)]
    for e in range(experts):
        for b, t in sorted(tokens, key=lambda token: -scores[token][e])[:count]:
            routes[b][t].append((e, scores[b, t][e]))
    return routes
