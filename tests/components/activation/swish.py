"""Swish with its slope (Ramachandran et al., 2017, section 4)."""

from __future__ import annotations

import math

from tests.components.probe import Probe, spec


def _mlp(beta: float) -> str:
    return spec(ffn=f"mlp(hidden: 20, activation: swish({beta}))")


def _gated(beta: float) -> str:
    return spec(ffn=f"gated(hidden: 20, activation: swish(beta: {beta}), bias: true)")


def _classify(beta: float) -> str:
    return spec(head=f"classify(3, pool: last, activation: swish({beta}))")


def _mlm(beta: float) -> str:
    return spec(mask="bidirectional", head=f"mlm(tied: false, activation: swish({beta}), norm: layer(eps: 1e-12))")


PROBES = {
    "beta": tuple(Probe(text(one), text(other)) for text in (_mlp, _gated, _classify, _mlm) for one, other in ((1, 1.702), (0.5, -1)))
}


def value(c, x: float) -> float:
    return x / (1 + math.exp(-c.beta * x))
