"""How far two computations of the same numbers may lie apart. One place, and no exception for any model."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import ndarray

# relative to the largest value
TOLERANCE = {"float32": 2e-5, "float16": 1e-2, "bfloat16": 5e-2}
VISIBLE = 100  # a change counts as seen when it moves the numbers by more than this many tolerances


def distance(got: ndarray, want: ndarray, least: float = 0.0) -> float:
    """The largest difference relative to the largest wanted value, or to `least` where that is larger.

    Infinite where the shapes differ or a value is not finite.
    """
    import numpy as np

    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    if got.shape != want.shape or not np.isfinite(got).all() or not np.isfinite(want).all():
        return float("inf")
    if not got.size:
        return 0.0
    difference, largest = np.abs(got - want).max(), max(np.abs(want).max(), least)
    return float(difference / largest) if largest else float("inf") if difference else 0.0
