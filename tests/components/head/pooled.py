"""One vector for a sequence (Reimers and Gurevych, 2019, section 3: mean and first; Devlin et al., 2018: tanh of a map of the first)."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Probe, spec
from tests.oracle.weights import linear

PROBES = {
    "pool": tuple(
        Probe(spec(head=f"pooled({one})", mask=mask), spec(head=f"pooled({other})", mask=mask))
        for mask in ("bidirectional", "causal")
        for one, other in (("mean", "first"), ("first", "tanh_first"), ("tanh_first", "mean"))
    ),
}


def outputs(c, w, x, frame):
    return {"last_hidden_state": x, "pooler_output": np.array([_pool(c, w, x[b], frame.valid[b]) for b in range(len(x))])}


def _pool(c, w, x, valid):
    if c.pool == "mean":
        real = [t for t in range(len(x)) if valid[t]]
        return sum(x[t] for t in real) / len(real)
    return x[0] if c.pool == "first" else np.tanh(linear(w, "dense", x[0]))
