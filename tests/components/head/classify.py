"""Classification of a whole sequence (Devlin et al., 2018, section 4.1: the first token; Radford et al., 2018, section 3.2: the last)."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Probe, Refused, picture, spec
from tests.oracle.formulas import activate, normalise
from tests.oracle.weights import linear


def _with(classes: int = 3, pool: str = "last", rest: str = "", **fields: object) -> str:
    return spec(head=f"classify({classes}, pool: {pool}{rest and ', '}{rest})", **fields)


def _on_images(pool: str, rest: str = "") -> str:
    return picture(head=f"classify(3, pool: {pool}{rest})", final_norm="none")


NORM = "norm: layer(eps: 1e-5)"
PROBES = {
    "classes": Probe(_with(3), _with(5)),
    "pool": tuple(
        Probe(_with(pool=one, mask=mask), _with(pool=other, mask=mask))
        for mask in ("causal", "bidirectional")
        for one, other in (("first", "last"), ("last", "mean"), ("mean", "first"), ("[first, last]", "[last, mean]"))
    )
    + (
        Probe(_on_images("first"), _on_images("last")),
        Probe(_on_images("mean"), _on_images("mean_patches"), follows=("leading",)),
        Probe(_on_images("[first, mean_patches]"), _on_images("[mean_patches, first]")),
        Refused(_with(pool="mean_patches"), "IMG002"),
        Refused(_with(pool="[first, first]"), "VAL004"),
    ),
    "leading": (
        Probe(_on_images("mean_patches"), _on_images("mean_patches", ", leading: 3")),
        Probe(_on_images("[first, mean_patches]"), _on_images("[first, mean_patches]", ", leading: 0")),
        Refused(_on_images("mean", ", leading: 1"), "TYP005"),
        Refused(_on_images("mean_patches", ", leading: 25"), "IMG001"),
    ),
    "norm": (
        Probe(_with(), _with(rest=NORM)),
        Probe(
            _on_images("[first, mean_patches]", f", {NORM}"),
            _on_images("[first, mean_patches]", ", norm: layer(eps: 0.5)"),
            follows=("eps",),
        ),
    ),
    "activation": (Probe(_with(), _with(rest="activation: tanh")), Probe(_with(rest="activation: gelu"), _with(rest="activation: tanh"))),
    "dense_bias": Probe(_with(rest="activation: tanh"), _with(rest="activation: tanh, dense_bias: false")),
    "dense_norm": (
        Probe(_with(rest="activation: tanh"), _with(rest="activation: tanh, dense_norm: layer(eps: 1e-5)")),
        Refused(_with(rest="dense_norm: layer(eps: 1e-5)"), "TYP005"),
    ),
    "bias": (Probe(_with(), _with(rest="bias: false")), Probe(_with(rest="activation: tanh"), _with(rest="activation: tanh, bias: false"))),
}


def outputs(c, w, x, frame):
    return {"logits": np.array([_logits(c, w, x[b], frame.valid[b]) for b in range(len(x))])}


def _logits(c, w, x, valid):
    real = [t for t in range(len(x)) if valid[t]]
    behind = x[c.leading :]
    every = {"first": x[0], "last": x[real[-1]], "mean": sum(x[t] for t in real) / len(real), "mean_patches": sum(behind) / len(behind)}
    pooled = np.concatenate([every[pool] for pool in ([c.pool] if isinstance(c.pool, str) else c.pool)])
    if c.norm is not None:
        pooled = normalise(c.norm, w.under("norm"), pooled)
    return linear(w, "classes", transformed(c, w, pooled))


def transformed(c, w, x):
    """The layer before the last map, for one vector."""
    if c.activation is None:
        return x
    x = activate(c.activation, linear(w, "dense", x))
    return x if c.dense_norm is None else normalise(c.dense_norm, w.under("dense_norm"), x)
