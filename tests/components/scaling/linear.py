"""Position interpolation: every position, so every pace, divided by one factor (Chen et al., 2023, section 2.3, equation 4)."""

from __future__ import annotations

from tests.components.places import scaled
from tests.components.probe import Probe

PROBES = {
    "factor": (
        Probe(scaled("linear(2)"), scaled("linear(4)")),
        Probe(scaled("linear(2)", mask="bidirectional"), scaled("linear(0.5)", mask="bidirectional")),
    )
}


def frequency(c, i: int, theta: float, width: int, length: int) -> float:
    return theta ** (-2 * i / width) / c.factor
