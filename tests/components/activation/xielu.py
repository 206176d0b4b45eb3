"""xIELU (Huang and Schlag, 2024, section 3, equation 9)."""

from __future__ import annotations

import math

from tests.components.probe import Draw, Probe, spec

_LEFT = Draw(shift={"*.up.bias": -0.5, "*.gate.bias": -0.5})


def _mlp(text: str) -> str:
    return spec(ffn=f"mlp(hidden: 20, activation: xielu{text}, bias: true)")


def _gated(text: str) -> str:
    return spec(ffn=f"gated(hidden: 20, activation: xielu{text}, bias: true)")


def _expert(text: str) -> str:
    return spec(ffn=f"moe(experts: 3, top_k: 2, expert: mlp(hidden: 20, activation: xielu{text}, bias: true), router: softmax)")


PROBES = {
    "beta": tuple(Probe(text(""), text("(beta: 1.5)")) for text in (_mlp, _gated, _expert)),
    "eps": tuple(Probe(text("(eps: -0.1)"), text("(eps: -0.8)"), _LEFT) for text in (_mlp, _gated)),
}


def value(c, x: float, w) -> float:
    rising, falling = (math.log1p(math.exp(float(w[name][0]))) for name in ("alpha_p", "alpha_n"))
    if x > 0:
        return rising * x * x + c.beta * x
    return (c.beta + falling) * (math.exp(min(x, c.eps)) - 1 - x) + c.beta * x
