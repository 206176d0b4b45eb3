"""One vector for a sequence (Reimers and Gurevych, 2019, section 3: mean and first; Devlin et al., 2018: tanh of a map of the first)."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Probe, Refused, picture, spec
from tests.oracle.formulas import normalise
from tests.oracle.weights import linear


def _on_images(arguments: str) -> str:
    return picture(head=f"pooled({arguments})", final_norm="none")


PROBES = {
    "pool": tuple(
        Probe(spec(head=f"pooled({one})", mask=mask), spec(head=f"pooled({other})", mask=mask))
        for mask in ("bidirectional", "causal")
        for one, other in (("mean", "first"), ("first", "tanh_first"), ("tanh_first", "mean"))
    )
    + (Probe(_on_images("mean"), _on_images("mean_patches"), follows=("leading",)), Refused(spec(head="pooled(mean_patches)"), "IMG002")),
    "leading": (
        Probe(_on_images("mean_patches"), _on_images("mean_patches, leading: 4")),
        Refused(_on_images("first, leading: 4"), "TYP005"),
    ),
    "norm": tuple(
        Probe(spec(head=f"pooled({pool})", final_norm="none"), spec(head=f"pooled({pool}, norm: layer(eps: 1e-5))", final_norm="none"))
        for pool in ("mean", "first", "tanh_first")
    ),
}


def outputs(c, w, x, frame):
    return {"last_hidden_state": x, "pooler_output": np.array([_pool(c, w, x[b], frame.valid[b]) for b in range(len(x))])}


def _pool(c, w, x, valid):
    real = [x[t] for t in range(len(x)) if valid[t]]
    behind = x[c.leading :]
    vector = {"mean": sum(real) / len(real), "mean_patches": sum(behind) / len(behind)}.get(c.pool, x[0])
    if c.norm is not None:
        vector = normalise(c.norm, w.under("norm"), vector)
    return np.tanh(linear(w, "dense", vector)) if c.pool == "tanh_first" else vector
