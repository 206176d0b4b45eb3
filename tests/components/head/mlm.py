"""The masked-language-model head (Devlin et al., 2018, section 3.1; its dense layer and norm stand in the published code only)."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Probe, spec
from tests.oracle.formulas import activate, normalise
from tests.oracle.weights import linear


def _with(tied: str = "false", activation: str = "gelu", norm: str = "layer(eps: 1e-5)", rest: str = "", **fields: object) -> str:
    head = f"mlm(tied: {tied}, activation: {activation}, norm: {norm}{rest and ', '}{rest})"
    return spec(head=head, mask="bidirectional", block="post_norm", **fields)


_NARROW = "project(tokens(width: 8))"
PROBES = {
    "tied": (
        Probe(_with("false"), _with("true")),
        Probe(_with("false", rest="width: 8", embed=_NARROW), _with("true", rest="width: 8", embed=_NARROW)),
    ),
    "activation": (Probe(_with(activation="gelu"), _with(activation="tanh")), Probe(_with("true", "relu"), _with("true", "silu"))),
    "norm": (
        Probe(_with(), _with(norm="rms(eps: 1e-5)")),
        Probe(_with("true", norm="layer(eps: 1e-5)"), _with("true", norm="layer(eps: 1e-5, bias: false)")),
    ),
    "dense_bias": Probe(_with(), _with(rest="dense_bias: false")),
    "bias": (Probe(_with(), _with(rest="bias: false")), Probe(_with("true"), _with("true", rest="bias: false"))),
    "width": (Probe(_with(), _with(rest="width: 12")), Probe(_with(rest="width: 8"), _with(rest="width: 12"))),
}


def outputs(c, w, x, frame):
    batch, length, _ = x.shape
    return {"logits": np.array([[_logits(c, w, x[b, t], frame) for t in range(length)] for b in range(batch)])}


def _logits(c, w, x, frame):
    x = normalise(c.norm, w.under("norm"), activate(c.activation, linear(w, "dense", x)))
    logits = (frame.token_table if c.tied else w["weight"]) @ x
    return logits + w["bias"] if c.bias else logits
