"""Rotary position embedding (Su et al., 2021, section 3.2.2) with the sines and cosines of a table, as RoFormer's code reads it."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Probe, spec


def _spec(layout: str, length: int = 16, **fields: object) -> str:
    return spec(position=f"stored_rope(length: {length}, layout: {layout})", **fields)


PROBES = {
    "length": Probe(_spec("half"), _spec("half", 20)),  # another table
    "layout": (
        Probe(_spec("half"), _spec("interleaved")),
        Probe(_spec("half", mask="bidirectional"), _spec("interleaved", mask="bidirectional")),
    ),
}


def turned(x, table, c, position: int):
    row = table[position]
    half = len(x) // 2
    y = np.array(x, np.float64)
    for i in range(half):
        first, second = (i, i + half) if c.layout == "half" else (2 * i, 2 * i + 1)
        sine, cosine = row[i], row[half + i]
        y[first], y[second] = x[first] * cosine - x[second] * sine, x[first] * sine + x[second] * cosine
    return y
