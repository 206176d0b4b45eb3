"""The sigmoid linear unit (Elfwing et al., 2017, section 2)."""

from __future__ import annotations

import math

from tests.components.places import activation_cases

CASES = activation_cases("silu")


def value(c, x: float) -> float:
    return x / (1 + math.exp(-x))
