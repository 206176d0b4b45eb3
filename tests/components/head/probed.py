"""Attention pooling (Lee et al., 2018, section 3.2, with one seed vector; Zhai et al., 2021), and a feed-forward network behind it."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Probe, Refused, picture, spec
from tests.oracle.formulas import activate, normalise
from tests.oracle.weights import linear


def _with(heads: int = 4, hidden: int = 20, activation: str = "gelu_tanh", norm: str = "layer(eps: 1e-5)", rest: str = "") -> str:
    return picture(head=f"probed(heads: {heads}, hidden: {hidden}, activation: {activation}, norm: {norm}{rest})")


PROBES = {
    "heads": (
        Probe(_with(4), _with(2)),
        Refused(_with(3), "SHP001"),
        Refused(spec(head="probed(heads: 4, hidden: 8, activation: relu, norm: norm)"), "IMG002"),
    ),
    "hidden": Probe(_with(hidden=20), _with(hidden=24)),
    "activation": Probe(_with(), _with(activation="relu")),
    "norm": (
        Probe(_with(), _with(norm="rms(eps: 1e-5)"), follows=("bias", "weight", "offset")),
        Probe(_with(), _with(norm="layer(eps: 0.1)"), follows=("eps",)),
    ),
    "bias": Probe(_with(), _with(rest=", bias: false")),
}


def outputs(c, w, x, frame):
    return {"last_hidden_state": x, "pooler_output": np.array([_pooled(c, w, image) for image in x])}


def _pooled(c, w, x):
    width = x.shape[1] // c.heads
    q = linear(w, "q", w["probe"][0])
    keys, values = ([linear(w, name, token) for token in x] for name in ("k", "v"))
    read = []
    for head in range(c.heads):
        part = slice(head * width, (head + 1) * width)
        scores = np.array([q[part] @ key[part] for key in keys]) / np.sqrt(width)
        shares = np.exp(scores - scores.max())
        read.append(sum(share * value[part] for share, value in zip(shares / shares.sum(), values, strict=True)))
    h = linear(w, "o", np.concatenate(read))
    return h + linear(w, "down", activate(c.activation, linear(w, "up", normalise(c.norm, w.under("norm"), h))))
