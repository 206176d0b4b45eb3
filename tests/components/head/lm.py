"""The next-token head (Vaswani et al., 2017, section 3.4); the cap is Gemma 2's (section 2, `Logit soft-capping`)."""

from __future__ import annotations

import math

import numpy as np

from tests.components.probe import Probe, spec
from tests.oracle.weights import linear


def _with(tied: str = "false", rest: str = "", **fields: object) -> str:
    return spec(head=f"lm(tied: {tied}{rest and ', '}{rest})", **fields)


_NARROW = "project(tokens(width: 8))"
PROBES = {
    "tied": (
        Probe(_with("false"), _with("true")),
        Probe(_with("false", embed="tokens(scale: 3)"), _with("true", embed="tokens(scale: 3)")),
        Probe(_with("false", "width: 8", embed=_NARROW), _with("true", "width: 8", embed=_NARROW)),
        Probe(_with("false", "bias: true"), _with("true", "bias: true")),
    ),
    "scale": (
        Probe(_with(), _with(rest="scale: 0.25")),
        Probe(_with("true", "scale: 0.5, bias: true"), _with("true", "scale: 2, bias: true")),
        Probe(_with(rest="scale: 0.5, softcap: 3"), _with(rest="scale: 2, softcap: 3")),
    ),
    "softcap": (
        Probe(_with(), _with(rest="softcap: 3")),
        Probe(_with("true", "softcap: 1.5"), _with("true", "softcap: 3")),
    ),
    "bias": (Probe(_with("false"), _with("false", "bias: true")), Probe(_with("true"), _with("true", "bias: true"))),
    "fixed_bias": (
        Probe(_with("false"), _with("false", "fixed_bias: true")),
        Probe(_with("true", "scale: 2"), _with("true", "fixed_bias: true, scale: 2")),
        Probe(_with(rest="width: 8"), _with(rest="width: 8, fixed_bias: true")),
    ),
    "width": (
        Probe(_with(), _with(rest="width: 8")),
        Probe(_with(rest="width: 8"), _with(rest="width: 12")),
        Probe(_with(rest="width: 16"), _with()),
    ),
}


def outputs(c, w, x, frame):
    batch, length, _ = x.shape
    return {"logits": np.array([[_logits(c, w, x[b, t], frame) for t in range(length)] for b in range(batch)])}


def _logits(c, w, x, frame):
    if c.width is not None:
        x = linear(w, "project", x)
    logits = (frame.token_table if c.tied else w["weight"]) @ x
    if c.bias or c.fixed_bias:
        logits = logits + w["bias"]
    logits = c.scale * logits
    return logits if c.softcap is None else np.array([c.softcap * math.tanh(z / c.softcap) for z in logits])
