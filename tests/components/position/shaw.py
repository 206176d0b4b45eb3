"""Relative position representations (Shaw et al., 2018, equation 4, with a clipped distance): one dot product more in each score."""

from __future__ import annotations

from tests.components.probe import Draw, Probe, spec

_SEEN = Draw({"*.position.weight": 2})


def _spec(rest: str = "", reach: int = 4, **fields: object) -> str:
    given = {"mask": "bidirectional", "attention": "attention(heads: 3, head_dim: 6, scale: 0.3)"} | fields
    return spec(position=f"shaw(max_distance: {reach}{rest})", **given)


PROBES = {
    "max_distance": (Probe(_spec(), _spec(reach=6), _SEEN), Probe(_spec(mask="causal"), _spec(reach=2, mask="causal"), _SEEN)),
    "of": (
        Probe(_spec(), _spec(", of: [q, k]"), _SEEN),
        Probe(_spec(), _spec(", of: [k]"), _SEEN),
        Probe(_spec(", of: [k]", mask="causal"), _spec(", of: [q, k]", mask="causal"), _SEEN),
    ),
}


def score(c, held, head: int, query: int, key: int, vectors) -> float:
    q, k = vectors
    row = held.own["weight"][max(-c.max_distance, min(key - query, c.max_distance)) + c.max_distance]
    return held.attention.scale * (("q" in c.of) * float(q @ row) + ("k" in c.of) * float(k @ row))
