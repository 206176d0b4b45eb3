"""Proportional rope: of the head's paces only the fastest share turns (transformers, `_compute_proportional_rope_parameters`)."""

from __future__ import annotations

from tests.components.places import scaled
from tests.components.probe import Probe


def _with(share: float = 0.5, rest: str = "", **fields: object) -> str:
    return scaled(f"proportional(share: {share}{rest and ', '}{rest})", theta=4, **fields)


PROBES = {
    "share": (
        Probe(_with(0.5), _with(0.75)),
        Probe(_with(1), _with(0.25)),
        Probe(_with(0.7, mask="bidirectional"), _with(0.8, mask="bidirectional")),
    ),
    "factor": (Probe(_with(), _with(rest="factor: 2")), Probe(_with(1, "factor: 2"), _with(1, "factor: 4"))),
}


def frequency(c, i: int, theta: float, width: int, length: int) -> float:
    turned = int(c.share * width / 2)
    return theta ** (-2 * i / width) / c.factor if i < turned else 0.0
