"""Sinusoidal positions (Vaswani et al., 2017, section 3.5); fairseq has all sines first, and its last pace is 1 / theta."""

from __future__ import annotations

import math

import numpy as np

from tests.components.probe import Probe, spec


def _with(arguments: str = "", **fields: object) -> str:
    return spec(embed=f"tokens() + sinusoidal_position({arguments})", position="none", **fields)


def _narrow(width: int, layout: str) -> str:
    return spec(embed=f"tokens() + project(sinusoidal_position(width: {width}, layout: {layout}))", position="none")


PROBES = {
    "width": tuple(Probe(_narrow(8, layout), _narrow(12, layout)) for layout in ("interleaved", "half")),
    "theta": (
        Probe(_with(), _with("theta: 5_000")),
        Probe(_with("theta: 100, layout: half", mask="bidirectional"), _with("theta: 500, layout: half", mask="bidirectional")),
    ),
    "layout": (Probe(_with("layout: half"), _with()), Probe(_with("offset: 2"), _with("layout: half, offset: 2"))),
    "offset": (
        Probe(_with(), _with("offset: 2")),
        Probe(_with("offset: 1", mask="bidirectional"), _with("offset: 2", mask="bidirectional")),
    ),
    "inclusive": (
        Probe(_with("theta: 100"), _with("theta: 100, inclusive: true")),
        Probe(_with("layout: half, offset: 2, theta: 100"), _with("layout: half, offset: 2, theta: 100, inclusive: true")),
    ),
    "rows": (
        Probe(_with(), _with("rows: 40")),
        Probe(_with("offset: 2", mask="bidirectional"), _with("rows: 40, offset: 2", mask="bidirectional")),
    ),
}


def vector(c, w, frame, b: int, t: int):
    position, half = int(frame.position[b, t]) + c.offset, c.width // 2
    if c.rows is not None:
        return w["weight"][position]
    y = np.zeros(c.width)
    for i in range(half):
        angle = position * c.theta ** (-i / (half - 1)) if c.inclusive else position / c.theta ** (2 * i / c.width)
        sine, cosine = (2 * i, 2 * i + 1) if c.layout == "interleaved" else (i, half + i)
        y[sine], y[cosine] = math.sin(angle), math.cos(angle)
    return y
