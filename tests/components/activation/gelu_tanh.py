"""The tanh approximation of the Gaussian error linear unit (Hendrycks and Gimpel, 2016, section 2)."""

from __future__ import annotations

import math

from tests.components.places import activation_cases

CASES = activation_cases("gelu_tanh", shift=-2.9)


def value(c, x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
