"""LongRoPE: a factor for each pair (Ding et al., 2024, section 3.2), two sets by length and an amplitude as in Phi-3's published code."""

from __future__ import annotations

import math

from tests.components.places import scaled
from tests.components.probe import Probe


def _with(short: str = "[1, 1.1, 1.5, 2]", long: str = "[1, 2, 4, 8]", original: int = 6, rest: str = "factor: 4", **fields: object) -> str:
    return scaled(f"longrope(short: {short}, long: {long}, original: {original}, {rest})", **fields)


_FIXED = "factor: 4, attention_factor: 1.25"
PROBES = {
    "short": (
        Probe(_with(original=16), _with(original=16, short="[1, 1.5, 2, 2]")),
        Probe(_with(original=16), _with(original=16, short="[2, 1.1, 1.5, 2]")),
    ),
    "long": (Probe(_with(), _with(long="[1, 3, 4, 8]")), Probe(_with(), _with(long="[2, 2, 4, 8]"))),
    "original": (
        Probe(_with(original=5), _with(original=9)),
        Probe(_with(original=11, rest=_FIXED), _with(original=12, rest=_FIXED)),  # twelve positions: at the edge
        Probe(_with(original=13, mask="bidirectional"), _with(original=16, mask="bidirectional")),
    ),
    "factor": (Probe(_with(rest="factor: 4"), _with(rest="factor: 2")), Probe(_with(rest="factor: 4"), _with(rest="factor: 0.5"))),
    "attention_factor": (
        Probe(_with(rest="factor: 4"), _with(rest=_FIXED)),
        Probe(_with(rest=_FIXED), _with(rest="factor: 4, attention_factor: 0.8")),
    ),
}


def frequency(c, i: int, theta: float, width: int, length: int) -> float:
    factors = c.long if length > c.original else c.short
    return 1 / (factors[i] * theta ** (2 * i / width))


def amplitude(c) -> float:
    if c.attention_factor is not None:
        return c.attention_factor
    return math.sqrt(1 + math.log(c.factor) / math.log(c.original)) if c.factor > 1 else 1.0
