"""Attention with two sets of linear maps, query by query (Beltagy et al., 2020, section 3.1, "Linear projections for global attention")."""

from __future__ import annotations

import math

import numpy as np

from tests.components.probe import Probe, spec
from tests.oracle.weights import linear


def _with(mask: str = "with_global(window(2, 1))", position: str = "rope(theta: 100)", **fields: object) -> str:
    """scale is stated: by default it follows head_dim."""
    base = {"heads": 4, "head_dim": 6, "scale": 0.5}
    return spec(attention=f"global_local({', '.join(f'{n}: {v}' for n, v in (base | fields).items())})", mask=mask, position=position)


PROBES = {
    "heads": (Probe(_with(heads=4), _with(heads=2)), Probe(_with(mask="bidirectional", heads=4), _with(mask="bidirectional", heads=2))),
    "head_dim": Probe(_with(head_dim=6), _with(head_dim=4)),
    "bias": tuple(Probe(_with(), _with(bias=f"[{role}]")) for role in "qkvo"),
    "scale": (
        Probe(_with(), _with(scale=0.25)),
        Probe(_with(position="alibi"), _with(position="alibi", scale="head_dim ** -0.5")),
        Probe(_with(mask="window(1, 2)", position="none"), _with(mask="window(1, 2)", position="none", scale=1)),
    ),
}


def sequence(c, w, x, frame):
    batch, length, _ = x.shape
    out = np.zeros_like(x)
    marks = frame.inputs["global_attention_mask"]
    for b in range(batch):
        for i in range(length):
            of = "global_" if marks[b, i] else ""
            keys = [j for j in range(length) if frame.visible(b, i, j)]
            q = _heads(c, w, f"{of}q", x[b, i])
            read = np.zeros((c.heads, c.head_dim))
            for h in range(c.heads):
                turned = frame.rotate(q[h], b, i)
                k = {j: frame.rotate(_heads(c, w, f"{of}k", x[b, j])[h], b, j) for j in keys}
                scores = {j: c.scale * float(turned @ k[j]) + frame.bias(h, c, w, b, (i, j), (turned, k[j])) for j in keys}
                shares = {j: math.exp(s - max(scores.values())) for j, s in scores.items()}
                for j in keys:
                    read[h] += shares[j] / sum(shares.values()) * _heads(c, w, f"{of}v", x[b, j])[h]
            out[b, i] = linear(w, "o", read.reshape(-1))
    return out


def _heads(c, w, role: str, x) -> np.ndarray:
    return linear(w, role, x).reshape(c.heads, c.head_dim)
