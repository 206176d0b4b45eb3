"""The Gaussian error linear unit: x times the normal distribution's mass below x (Hendrycks and Gimpel, 2016, section 2)."""

from __future__ import annotations

import math

from tests.components.places import activation_cases

CASES = activation_cases("gelu", shift=-2.9)


def value(c, x: float) -> float:
    return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))
