"""Answers as spans (Devlin et al., 2018, section 4.2): the dot products of each token with a start and an end vector."""

from __future__ import annotations

import numpy as np

from tests.components.head.classify import transformed
from tests.components.probe import Probe, spec
from tests.oracle.weights import linear


def _with(arguments: str = "") -> str:
    return spec(head=f"span({arguments})", mask="bidirectional")


PROBES = {
    "bias": Probe(_with(), _with("bias: false")),
    "activation": (Probe(_with(), _with("activation: tanh")), Probe(_with("activation: gelu"), _with("activation: tanh"))),
    "dense_bias": Probe(_with("activation: tanh"), _with("activation: tanh, dense_bias: false")),
    "dense_norm": Probe(_with("activation: tanh"), _with("activation: tanh, dense_norm: layer(eps: 1e-5)")),
}


def outputs(c, w, x, frame):
    ends = np.array([[linear(w, "ends", transformed(c, w, token)) for token in row] for row in x])
    return {"start_logits": ends[..., 0], "end_logits": ends[..., 1]}
