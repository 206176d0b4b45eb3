"""The rectified linear unit (Nair and Hinton, 2010)."""

from __future__ import annotations

from tests.components.places import activation_cases

CASES = activation_cases("relu")


def value(c, x: float) -> float:
    return max(x, 0.0)
