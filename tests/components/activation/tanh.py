"""The hyperbolic tangent."""

from __future__ import annotations

import math

from tests.components.places import activation_cases

CASES = activation_cases("tanh")


def value(c, x: float) -> float:
    return math.tanh(x)
