"""The two-layer feed-forward network (Vaswani et al., 2017, section 3.3, equation 2)."""

from __future__ import annotations

from tests.components.probe import Probe, spec
from tests.oracle.formulas import activate
from tests.oracle.weights import linear


def _with(hidden: int = 20, activation: str = "relu", bias: str = "false", **fields: object) -> str:
    return spec(ffn=f"mlp(hidden: {hidden}, activation: {activation}, bias: {bias})", **fields)


PROBES = {
    "hidden": Probe(_with(hidden=20), _with(hidden=12)),
    "activation": (Probe(_with(activation="relu"), _with(activation="silu")), Probe(_with(activation="tanh"), _with(activation="gelu"))),
    "bias": (Probe(_with(), _with(bias="true")), Probe(_with(block="parallel"), _with(bias="true", block="parallel"))),
}


def token(c, w, x):
    return linear(w, "down", activate(c.activation, linear(w, "up", x), w.under("activation")))
