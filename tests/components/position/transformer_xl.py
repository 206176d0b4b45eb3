"""Relative attention (Dai et al., 2019, section 3.3: terms a to d), and XLNet's segments (Yang et al., 2019, section 2.5)."""

from __future__ import annotations

import math

import numpy as np

from tests.components.probe import Probe, spec


def _spec(arguments: str = "", **fields: object) -> str:
    given = {"mask": "bidirectional", "attention": "attention(heads: 3, head_dim: 6, scale: 0.3)"} | fields
    return spec(position=f"transformer_xl({arguments})", **given)


PROBES = {
    "theta": (Probe(_spec(), _spec("theta: 20")), Probe(_spec(mask="causal"), _spec("theta: 20", mask="causal"))),
    "furthest": (Probe(_spec(), _spec("furthest: 3")), Probe(_spec("segments: true"), _spec("segments: true, furthest: 3"))),
    "segments": (Probe(_spec(), _spec("segments: true")), Probe(_spec(mask="causal"), _spec("segments: true", mask="causal"))),
}


def score(c, held, head: int, query: int, key: int, vectors, ids=None) -> float:
    q, k = vectors
    w, width = held.own, len(q)
    distance = query - key if c.furthest is None else max(-c.furthest, min(query - key, c.furthest))
    half = w["r.weight"].shape[1] // 2
    angles = [distance * c.theta ** (-i / half) for i in range(half)]
    sinusoid = np.array([math.sin(a) for a in angles] + [math.cos(a) for a in angles])
    r = (w["r.weight"] @ sinusoid)[head * width : (head + 1) * width]
    found = float(w["content_bias"][head] @ k) + float((q + w["position_bias"][head]) @ r)
    if c.segments:
        found += float((q + w["segment_bias"][head]) @ w["segments"][int(ids[query] != ids[key]), head])
    return held.attention.scale * found
