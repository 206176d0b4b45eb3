"""The bias of Raffel et al., 2019, section 2.1: buckets that widen with the distance, by the paper's words and its code's rule."""

from __future__ import annotations

import math

from tests.components.probe import Draw, Probe, spec

_SEEN = Draw({"position.weight": 3, "*.position.weight": 3})
_TWO_KINDS = "layer near {{ mask = sliding(6) {0} }} layer far {{ mask = causal }} layers = [near, far]"


def _spec(buckets: int = 4, reach: int = 8, ahead: str = "false", rest: str = "", **fields: object) -> str:
    return spec(position=f"relative_bias(buckets: {buckets}, max_distance: {reach}, bidirectional: {ahead}{rest})", **fields)


def _capped(reach: int, **fields: object) -> str:
    return _spec(reach=reach, attention="attention(heads: 4, kv_heads: 2, head_dim: 6, softcap: 2, sinks: true)", **fields)


PROBES = {
    "buckets": (
        Probe(_spec(), _spec(6), _SEEN),
        Probe(_spec(4, 8, "true", mask="bidirectional"), _spec(8, 8, "true", mask="bidirectional"), _SEEN),
    ),
    "max_distance": (
        Probe(_spec(), _spec(reach=3), _SEEN),
        Probe(_spec(rest=", shared: false"), _spec(reach=4, rest=", shared: false"), _SEEN),
        Probe(_capped(8), _capped(3), _SEEN),
        Probe(_capped(8, rest=", shared: false"), _capped(3, rest=", shared: false"), _SEEN),
        Probe(_spec(8, 9, "true", mask="window(6, 5)"), _spec(8, 4, "true", mask="window(6, 5)"), _SEEN),
        Probe(  # a table of their own for layers that have another reach
            _spec(extra=_TWO_KINDS.format("")),
            _spec(extra=_TWO_KINDS.format("position = relative_bias(buckets: 4, max_distance: 3, bidirectional: false)")),
            _SEEN,
        ),
    ),
    "bidirectional": (
        Probe(_spec(mask="bidirectional"), _spec(ahead="true", mask="bidirectional"), _SEEN),
        Probe(_spec(8, 10), _spec(8, 10, "true"), _SEEN),
        Probe(
            _spec(8, 10, rest=", shared: false", mask="bidirectional"), _spec(8, 10, "true", ", shared: false", mask="bidirectional"), _SEEN
        ),
    ),
    "shared": (
        Probe(_spec(), _spec(rest=", shared: false"), _SEEN),
        Probe(_spec(8, 9, "true", mask="bidirectional"), _spec(8, 9, "true", ", shared: false", mask="bidirectional"), _SEEN),
    ),
}


def score(c, held, head: int, query: int, key: int, vectors) -> float:
    table = (held.shared if c.shared else held.own)["weight"]
    return float(table[_bucket(key - query, c.bidirectional, c.buckets, c.max_distance), head])


def _bucket(ahead: int, bidirectional: bool, buckets: int, max_distance: int) -> int:
    first = 0
    if bidirectional:
        buckets //= 2
        first = buckets if ahead > 0 else 0
        distance = abs(ahead)
    else:
        distance = max(-ahead, 0)
    exact = buckets // 2
    if distance < exact:
        return first + distance
    steps = math.log(distance / exact) / math.log(max_distance / exact) * (buckets - exact)
    return first + min(exact + math.floor(steps + 1e-9), buckets - 1)
