"""Mixture of experts (Shazeer et al., 2017, section 2); shared experts as in Dai et al., 2024, section 3.2, gated as in Qwen 2's code."""

from __future__ import annotations

import math

import numpy as np

from tests.components.probe import Probe, spec
from tests.oracle.formulas import formula
from tests.oracle.weights import linear

BASE = {"experts": 6, "top_k": 2, "expert": "gated(hidden: 10, activation: silu)", "router": "softmax(normalize: true)"}
_SHARED = "gated(hidden: 7, activation: silu)"


def _with(**fields: object) -> str:
    arguments = ", ".join(f"{name}: {value}" for name, value in (BASE | fields).items())
    return spec(ffn=f"moe({arguments})")


PROBES = {
    "experts": (Probe(_with(experts=6), _with(experts=4)), Probe(_with(experts=1, top_k=1), _with(experts=2, top_k=1))),
    "top_k": (Probe(_with(top_k=2), _with(top_k=3)), Probe(_with(top_k=2), _with(top_k=1)), Probe(_with(top_k=2), _with(top_k=6))),
    "expert": (
        Probe(_with(), _with(expert="mlp(hidden: 10, activation: silu)")),
        Probe(_with(expert="mlp(hidden: 10, activation: relu)"), _with(expert="mlp(hidden: 10, activation: silu)")),
        Probe(_with(expert="gated(hidden: 10, activation: silu)"), _with(expert="gated(hidden: 10, activation: silu, bias: true)")),
        Probe(
            _with(expert="gated(hidden: 10, activation: swish(1.702), bias: true, clamp: 0.5, up_offset: 1)"),
            _with(expert="gated(hidden: 10, activation: swish(1.702), bias: true, clamp: 0.8, up_offset: 1)"),
        ),
    ),
    "router": (
        Probe(_with(), _with(router="sigmoid(normalize: true)")),
        Probe(_with(router="softmax"), _with(router="sigmoid")),
        Probe(_with(router="softmax(weight_on: input)"), _with(router="softmax(weight_on: input, scale: 2)")),
    ),
    "shared": (
        Probe(_with(), _with(shared=_SHARED)),
        Probe(_with(shared=_SHARED), _with(shared="mlp(hidden: 7, activation: silu)")),
        Probe(_with(router="softmax(weight_on: input)"), _with(router="softmax(weight_on: input)", shared=_SHARED)),
    ),
    "shared_gate": Probe(_with(shared=_SHARED), _with(shared=_SHARED, shared_gate="true")),
}


def sequence(c, w, x, frame):
    batch, length, _ = x.shape
    routes = _routes(c, w.under("router"), x)
    return np.array([[_token(c, w, x[b, t], routes[b][t]) for t in range(length)] for b in range(batch)])


def _routes(c, w, x) -> list[list[list[tuple[int, float]]]]:
    """For every token its experts, each with its weight."""
    router = formula(c.router)
    if hasattr(router, "assign"):
        return router.assign(c.router, w, x, c.top_k)
    return [[router.choose(c.router, w, token, c.top_k) for token in row] for row in x]


def _token(c, w, x, route):
    y = np.zeros_like(x)
    for expert, weight in route:
        place = w.under("experts").under(str(expert))
        if getattr(c.router, "weight_on", "output") == "input":
            y = y + formula(c.expert).token(c.expert, place, weight * x)
        else:
            y = y + weight * formula(c.expert).token(c.expert, place, x)
    if c.shared is None:
        return y
    common = formula(c.shared).token(c.shared, w.under("shared"), x)
    return y + (common / (1 + math.exp(-linear(w, "shared_gate", x)[0])) if c.shared_gate else common)
