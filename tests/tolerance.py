"""How far two computations of the same numbers may lie apart, relative to the largest of them. One place, no exceptions per model."""

from __future__ import annotations

import numpy as np

TOLERANCE = {"float32": 2e-5, "float16": 1e-2, "bfloat16": 5e-2}
VISIBLE = 100  # a probe must move the numbers by more than this many tolerances


def distance(got: np.ndarray, want: np.ndarray) -> float:
    """The largest difference relative to the largest wanted value; infinite where the shapes differ or a value is not finite."""
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    if got.shape != want.shape or not np.isfinite(got).all() or not np.isfinite(want).all():
        return float("inf")
    difference, largest = np.abs(got - want).max(), np.abs(want).max()
    return float(difference / largest) if largest else float("inf") if difference else 0.0
