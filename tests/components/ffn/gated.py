"""The gated feed-forward network (Shazeer, 2020, section 2, equation 6); clamp and offset are gpt-oss's (its published code)."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Probe, spec
from tests.oracle.formulas import activate
from tests.oracle.weights import linear


def _with(hidden: int = 20, activation: str = "silu", bias: str = "false", rest: str = "", **fields: object) -> str:
    return spec(ffn=f"gated(hidden: {hidden}, activation: {activation}, bias: {bias}{rest and ', '}{rest})", **fields)


PROBES = {
    "hidden": Probe(_with(hidden=20), _with(hidden=12)),
    "activation": (Probe(_with(activation="silu"), _with(activation="relu")), Probe(_with(activation="tanh"), _with(activation="gelu"))),
    "bias": (Probe(_with(), _with(bias="true")), Probe(_with(block="parallel"), _with(bias="true", block="parallel"))),
    "clamp": (
        Probe(_with(), _with(rest="clamp: 0.8")),
        Probe(_with(rest="clamp: 0.8"), _with(rest="clamp: 0.4")),
        Probe(_with(bias="true", rest="clamp: 0.8, up_offset: 1"), _with(bias="true", rest="clamp: 0.4, up_offset: 1")),
    ),
    "up_offset": (
        Probe(_with(), _with(rest="up_offset: 1")),
        Probe(_with(rest="clamp: 0.8, up_offset: 0.5"), _with(rest="clamp: 0.8, up_offset: 1")),
    ),
}


def token(c, w, x):
    gate, up = linear(w, "gate", x), linear(w, "up", x)
    if c.clamp is not None:
        gate = np.array([min(number, c.clamp) for number in gate])
        up = np.array([max(min(number, c.clamp), -c.clamp) for number in up])
    return linear(w, "down", activate(c.activation, gate, w.under("activation")) * (up + c.up_offset))
