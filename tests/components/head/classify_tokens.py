"""Classification of every token (Devlin et al., 2018, section 4, named-entity recognition)."""

from __future__ import annotations

import numpy as np

from tests.components.head.classify import transformed
from tests.components.probe import Probe, spec
from tests.oracle.weights import linear


def _with(classes: int = 3, rest: str = "", **fields: object) -> str:
    return spec(head=f"classify_tokens({classes}{rest and ', '}{rest})", mask="bidirectional", **fields)


PROBES = {
    "classes": Probe(_with(3), _with(5)),
    "bias": Probe(_with(), _with(rest="bias: false")),
    "activation": Probe(_with(rest="activation: gelu"), _with(rest="activation: tanh")),
    "dense_bias": Probe(_with(rest="activation: tanh"), _with(rest="activation: tanh, dense_bias: false")),
    "dense_norm": Probe(_with(rest="activation: tanh"), _with(rest="activation: tanh, dense_norm: layer(eps: 1e-5)")),
}


def outputs(c, w, x, frame):
    batch, length, _ = x.shape
    return {"logits": np.array([[linear(w, "classes", transformed(c, w, x[b, t])) for t in range(length)] for b in range(batch)])}
