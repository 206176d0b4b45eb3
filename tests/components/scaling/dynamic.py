"""Dynamic NTK-aware scaling (Peng et al., 2023, section 3.3 and appendix A.1), its base as published in transformers."""

from __future__ import annotations

from tests.components.places import scaled
from tests.components.probe import Probe


def _with(factor: float, original: int, **fields: object) -> str:
    return scaled(f"dynamic(factor: {factor}, original: {original})", **fields)


PROBES = {
    "factor": (Probe(_with(2, 6), _with(4, 6)), Probe(_with(2, 6, mask="bidirectional"), _with(3, 6, mask="bidirectional"))),
    "original": (
        Probe(_with(4, 5), _with(4, 8)),
        Probe(_with(4, 11), _with(4, 12)),  # twelve positions: at the edge
        Probe(scaled("dynamic(factor: 4)", context=16), scaled("dynamic(factor: 4)", context=8), follows=("context",)),
    ),
}


def frequency(c, i: int, theta: float, width: int, length: int) -> float:
    if length > c.original:
        theta = theta * (c.factor * length / c.original - (c.factor - 1)) ** (width / (width - 2))
    return theta ** (-2 * i / width)
