"""The sigmoid approximation of the Gaussian error linear unit (Hendrycks and Gimpel, 2016, section 2)."""

from __future__ import annotations

import math

from tests.components.places import activation_cases

CASES = activation_cases("quick_gelu")


def value(c, x: float) -> float:
    return x / (1 + math.exp(-1.702 * x))
