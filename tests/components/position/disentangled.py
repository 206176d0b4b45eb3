"""Disentangled attention (He et al., 2020, section 3.1 and appendix A): each score by its own two dot products."""

from __future__ import annotations

import math

import numpy as np

from tests.components.probe import Draw, Probe, spec
from tests.oracle.formulas import normalise
from tests.oracle.weights import linear

_SEEN = Draw({"position.weight": 4})


def _spec(rest: str = "", reach: int = 6, **fields: object) -> str:
    given = {"mask": "bidirectional", "attention": "attention(heads: 3, head_dim: 6, bias: true, scale: 0.2)"} | fields
    return spec(position=f"disentangled(max_distance: {reach}{rest})", **given)


_NORMS = (", norm: layer(eps: 1e-5)", ", norm: rms(eps: 1e-5)", ", norm: layer(eps: 1e-5, bias: false)")
_SHARED = ", own_maps: false"

PROBES = {
    "max_distance": (
        Probe(_spec(), _spec(reach=4), _SEEN),
        Probe(_spec(mask="causal"), _spec(reach=4, mask="causal"), _SEEN),
        Probe(_spec(", buckets: 4", 8), _spec(", buckets: 4", 5), _SEEN),
        Probe(_spec(", buckets: 8" + _SHARED, 12, mask="sliding(9)"), _spec(", buckets: 8" + _SHARED, 6, mask="sliding(9)"), _SEEN),
    ),
    "buckets": (
        Probe(_spec(reach=8), _spec(", buckets: 4", 8), _SEEN),
        Probe(_spec(", buckets: 4", 8), _spec(", buckets: 6", 8), _SEEN),
    ),
    "terms": (
        Probe(_spec(), _spec(", terms: [c2p]"), _SEEN),
        Probe(_spec(", terms: [p2c]"), _spec(", terms: [c2p]"), _SEEN),
        Probe(_spec(", terms: [p2c]" + _SHARED), _spec(", terms: [c2p]" + _SHARED), _SEEN),
    ),
    "own_maps": (Probe(_spec(), _spec(_SHARED), _SEEN), Probe(_spec(mask="causal"), _spec(_SHARED, mask="causal"), _SEEN)),
    "norm": tuple(Probe(_spec(one), _spec(other), _SEEN) for one, other in zip(("", *_NORMS), _NORMS, strict=False)),
}


def score(c, held, head: int, query: int, key: int, vectors) -> float:
    q, k = vectors
    row = held.shared["weight"][_row(c, query - key)]
    if c.norm is not None:
        row = normalise(c.norm, held.shared.under("norm"), row)
    maps = held.own if c.own_maps else held.beside
    found = 0.0
    if "c2p" in c.terms:
        found += float(q @ _head(linear(maps, "k", row), head, len(q)))
    if "p2c" in c.terms:
        found += float(k @ _head(linear(maps, "q", row), head, len(k)))
    return held.attention.scale * found


def _head(x: np.ndarray, head: int, width: int) -> np.ndarray:
    return x[head * width : (head + 1) * width]


def _row(c, distance: int) -> int:
    """delta(i, j) of the paper, with DeBERTa-v2's buckets where there are any."""
    span = c.max_distance if c.buckets is None else c.buckets
    if c.buckets is not None and abs(distance) > span // 2:
        half = span // 2
        steps = math.log(abs(distance) / half) / math.log((c.max_distance - 1) / half) * (half - 1)
        distance = int(math.copysign(math.ceil(steps - 1e-9) + half, distance))
    if distance <= -span:
        return 0
    return 2 * span - 1 if distance >= span else distance + span
