"""Rotary position embedding (Su et al., 2021, section 3.2.2, equations 14 and 15), both ways to pair the channels."""

from __future__ import annotations

import math

import numpy as np

from tests.components.probe import Probe, spec
from tests.oracle.formulas import formula


def _two(first: str, second: str) -> str:
    layers = f"layer near {{ position = rope({first}) }}  layer far {{ position = rope({second}) }}  layers = [near, far]"
    return spec(layers, position=None)


PROBES = {
    "theta": (
        Probe(spec(position="rope(theta: 10_000)"), spec(position="rope(theta: 20_000)")),
        Probe(spec(position="rope(theta: 100)", mask="bidirectional"), spec(position="rope(theta: 500)", mask="bidirectional")),
        Probe(spec(position="rope(theta: 100, partial: 4)"), spec(position="rope(theta: 500, partial: 4)")),
        Probe(_two("theta: 50", "theta: 1_000"), _two("theta: 50", "theta: 5_000")),
    ),
    "layout": (
        Probe(spec(position="rope"), spec(position="rope(layout: interleaved)")),
        Probe(spec(position="rope(partial: 4)"), spec(position="rope(layout: interleaved, partial: 4)")),
    ),
    "partial": (
        Probe(spec(position="rope(theta: 100)"), spec(position="rope(theta: 100, partial: 4)")),
        Probe(spec(position="rope(theta: 100, partial: 2)"), spec(position="rope(theta: 100, partial: 4)")),
        Probe(
            spec(position="rope(theta: 100, layout: interleaved, partial: 2)"),
            spec(position="rope(theta: 100, layout: interleaved, partial: 6)"),
        ),
    ),
    "backward": (
        Probe(spec(position="rope(theta: 100)"), spec(position="rope(theta: 100, backward: true)")),
        Probe(spec(position="rope(layout: interleaved)"), spec(position="rope(layout: interleaved, backward: true)")),
        Probe(
            spec(position="rope(scaling: yarn(factor: 2, original: 8))"),
            spec(position="rope(backward: true, scaling: yarn(factor: 2, original: 8))"),
        ),
    ),
    "sections": (
        Probe(spec(position="rope(theta: 100)"), spec(position="rope(theta: 100, sections: [1, 1, 1])")),
        Probe(spec(position="rope(theta: 20, sections: [2, 1, 0])"), spec(position="rope(theta: 20, sections: [0, 1, 2])")),
        Probe(
            spec(position="rope(theta: 20, partial: 4, layout: interleaved, sections: [1, 1, 0])"),
            spec(position="rope(theta: 20, partial: 4, layout: interleaved, sections: [1, 0, 1])"),
        ),
        Probe(
            spec(position="rope(theta: 100, scaling: yarn(factor: 2, original: 8), backward: true)", mask="bidirectional"),
            spec(position="rope(theta: 100, scaling: yarn(factor: 2, original: 8), backward: true, sections: [1, 1, 1])", mask="bidirectional"),
        ),
        Probe(_two("theta: 50", "theta: 50"), _two("theta: 50", "theta: 50, sections: [1, 1, 1]")),
    ),
    "scaling": (
        Probe(spec(position="rope(theta: 100)"), spec(position="rope(theta: 100, scaling: linear(3))")),
        Probe(
            spec(position="rope(scaling: linear(3), partial: 4)"),
            spec(position="rope(scaling: dynamic(factor: 3, original: 5), partial: 4)"),
        ),
        Probe(
            spec(position="rope(theta: 100, layout: interleaved)"),
            spec(position="rope(theta: 100, layout: interleaved, scaling: yarn(factor: 4, original: 64))"),
        ),
        Probe(_two("scaling: linear(3)", "scaling: linear(2)"), _two("scaling: linear(3)", "scaling: none")),
    ),
}


def rotate(c, x, position: int, length: int):
    width = len(x) if c.partial is None else c.partial
    y = np.array(x, np.float64)
    for i in range(width // 2):
        first, second = (i, i + width // 2) if c.layout == "half" else (2 * i, 2 * i + 1)
        pace, size = c.theta ** (-2 * i / width), 1.0
        if c.scaling is not None:
            scaling = formula(c.scaling)
            pace = scaling.frequency(c.scaling, i, c.theta, width, length)
            size = scaling.amplitude(c.scaling) if hasattr(scaling, "amplitude") else 1.0
        cosine, sine = size * math.cos(position * pace), size * math.sin(position * pace)
        sine = -sine if c.backward else sine
        y[first], y[second] = x[first] * cosine - x[second] * sine, x[first] * sine + x[second] * cosine
    return y


def rotate_by_axes(c, x, positions):
    """Wang et al., 2024 (Qwen2-VL), section 2.1: the pairs are decomposed into temporal, height and width components."""
    width = len(x) if c.partial is None else c.partial
    y, pair = np.array(x, np.float64), 0
    for axis, count in enumerate(c.sections):
        whole = rotate(c, x, int(positions[axis]), 0)
        for _ in range(count):
            for i in (pair, pair + width // 2) if c.layout == "half" else (2 * pair, 2 * pair + 1):
                y[i] = whole[i]
            pair += 1
    return y


def score_factor(c) -> float:
    return formula(c.scaling).score_factor(c.scaling) if c.scaling is not None and hasattr(formula(c.scaling), "score_factor") else 1.0
