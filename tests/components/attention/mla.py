"""Multi-head latent attention, query by query (DeepSeek-AI, 2024, DeepSeek-V2, section 2.1 and appendix C, equations 37 to 47)."""

from __future__ import annotations

import math

import numpy as np

from tests.components.probe import Probe, spec
from tests.oracle.formulas import normalise
from tests.oracle.weights import linear

BASE = {"heads": 3, "kv_rank": 6, "nope_dim": 4, "rope_dim": 6, "value_dim": 5, "latent_norm": "rms(eps: 1e-5)", "scale": 0.5}


def _with(mask: str = "causal", position: str = "rope(theta: 100)", **fields: object) -> str:
    """scale is stated: by default it follows the widths."""
    arguments = ", ".join(f"{name}: {value}" for name, value in (BASE | fields).items())
    return spec(attention=f"mla({arguments})", mask=mask, position=position)


PROBES = {
    "heads": Probe(_with(heads=3), _with(heads=2)),
    "q_rank": (
        Probe(_with(), _with(q_rank=7)),
        Probe(_with(q_rank=7), _with(q_rank=9)),
        Probe(_with(bias="true"), _with(bias="true", q_rank=7)),
    ),
    "kv_rank": Probe(_with(kv_rank=6), _with(kv_rank=8)),
    "nope_dim": Probe(_with(nope_dim=4), _with(nope_dim=3)),
    "rope_dim": (
        Probe(_with(rope_dim=6), _with(rope_dim=4)),
        Probe(_with(rope_dim=6, position="rope(layout: interleaved)"), _with(rope_dim=8, position="rope(layout: interleaved)")),
    ),
    "value_dim": Probe(_with(value_dim=5), _with(value_dim=7)),
    "latent_norm": (
        Probe(_with(), _with(latent_norm="layer(eps: 1e-5)")),
        Probe(_with(q_rank=7, latent_norm="rms(eps: 1e-5)"), _with(q_rank=7, latent_norm="layer(eps: 1e-5, bias: false)")),
    ),
    "bias": (Probe(_with(), _with(bias="true")), Probe(_with(q_rank=7), _with(q_rank=7, bias="true"))),
    "scale": (
        Probe(_with(), _with(scale=0.25)),
        Probe(_with(scale="(nope_dim + rope_dim) ** -0.5"), _with(scale=1)),
        Probe(_with(mask="bidirectional"), _with(mask="bidirectional", scale=0.25)),
        Probe(_with(mask="sliding(4)", position="none"), _with(mask="sliding(4)", position="none", scale=0.25)),
    ),
}


def sequence(c, w, x, frame):
    batch, length, _ = x.shape
    out = np.zeros_like(x)
    for b in range(batch):
        q = [_queries(c, w, x[b, t], frame, b, t) for t in range(length)]
        kv = [_keys_and_values(c, w, x[b, t], frame, b, t) for t in range(length)]
        for i in range(length):
            mixed = np.zeros((c.heads, c.value_dim))
            for h in range(c.heads):
                keys = [j for j in range(length) if frame.visible(b, i, j)]
                vectors = {j: (q[i][h], kv[j][0][h]) for j in keys}
                scores = [
                    c.scale * frame.score_factor() * float(a @ d) + frame.bias(h, c, w, b, (i, j), (a, d)) for j, (a, d) in vectors.items()
                ]
                shares = [math.exp(s - max(scores)) for s in scores]
                for j, share in zip(keys, shares, strict=True):
                    mixed[h] += share / sum(shares) * kv[j][1][h]
            out[b, i] = linear(w, "o", mixed.reshape(-1))
    return out


def _queries(c, w, x, frame, b: int, t: int) -> list[np.ndarray]:
    if c.q_rank is None:
        whole = linear(w, "q", x)
    else:
        whole = linear(w, "q_up", normalise(c.latent_norm, w.under("q_norm"), linear(w, "q_down", x)))
    parts = whole.reshape(c.heads, c.nope_dim + c.rope_dim)
    return [np.concatenate([part[: c.nope_dim], frame.rotate(part[c.nope_dim :], b, t)]) for part in parts]


def _keys_and_values(c, w, x, frame, b: int, t: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The latent vector gives every head's plain channels of the key and its value; the turned channels are the same for all heads."""
    down = linear(w, "kv_down", x)
    latent, turned = normalise(c.latent_norm, w.under("kv_norm"), down[: c.kv_rank]), frame.rotate(down[c.kv_rank :], b, t)
    parts = linear(w, "kv_up", latent).reshape(c.heads, c.nope_dim + c.value_dim)
    return [np.concatenate([part[: c.nope_dim], turned]) for part in parts], [part[c.nope_dim :] for part in parts]
