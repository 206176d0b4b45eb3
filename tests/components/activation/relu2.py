"""The squared rectified linear unit (So et al., 2021, section 4)."""

from __future__ import annotations

from tests.components.places import activation_cases

CASES = activation_cases("relu2")


def value(c, x: float) -> float:
    return max(x, 0.0) ** 2
