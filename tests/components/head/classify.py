"""Classification of a whole sequence (Devlin et al., 2018, section 4.1: the first token; Radford et al., 2018, section 3.2: the last)."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Probe, spec
from tests.oracle.formulas import activate
from tests.oracle.weights import linear


def _with(classes: int = 3, pool: str = "last", rest: str = "", **fields: object) -> str:
    return spec(head=f"classify({classes}, pool: {pool}{rest and ', '}{rest})", **fields)


PROBES = {
    "classes": Probe(_with(3), _with(5)),
    "pool": tuple(
        Probe(_with(pool=one, mask=mask), _with(pool=other, mask=mask))
        for mask in ("causal", "bidirectional")
        for one, other in (("first", "last"), ("last", "mean"), ("mean", "first"))
    ),
    "activation": (Probe(_with(), _with(rest="activation: tanh")), Probe(_with(rest="activation: gelu"), _with(rest="activation: tanh"))),
    "bias": (Probe(_with(), _with(rest="bias: false")), Probe(_with(rest="activation: tanh"), _with(rest="activation: tanh, bias: false"))),
}


def outputs(c, w, x, frame):
    return {"logits": np.array([_logits(c, w, x[b], frame.valid[b]) for b in range(len(x))])}


def _logits(c, w, x, valid):
    real = [t for t in range(len(x)) if valid[t]]
    pooled = {"first": x[0], "last": x[real[-1]], "mean": sum(x[t] for t in real) / len(real)}[c.pool]
    if c.activation is not None:
        pooled = activate(c.activation, linear(w, "dense", pooled))
    return linear(w, "classes", pooled)
