"""Llama 3.1's scaling by wavelength (the published llama-models code, `apply_scaling`)."""

from __future__ import annotations

import math

from tests.components.places import scaled
from tests.components.probe import Probe


def _with(factor: float = 4, low: float = 1, high: float = 4, original: int = 64, **fields: object) -> str:
    return scaled(f"llama3(factor: {factor}, low: {low}, high: {high}, original: {original})", **fields)


PROBES = {  # wavelengths of the four pairs: 6.3, 20, 63, 199; kept below 16, stretched above 64, blended between
    "factor": Probe(_with(factor=4), _with(factor=2)),
    "low": (Probe(_with(low=1), _with(low=2)), Probe(_with(low=1, high=8), _with(low=3.5, high=8))),
    "high": (Probe(_with(high=4), _with(high=2)), Probe(_with(low=2, high=2), _with(low=2, high=4))),
    "original": (
        Probe(_with(original=64), _with(original=32)),
        Probe(_with(original=16), _with(original=200)),
        Probe(
            scaled("llama3(factor: 8, low: 1, high: 4)", context=16),
            scaled("llama3(factor: 8, low: 1, high: 4)", context=64),
            follows=("context",),
        ),
    ),
}


def frequency(c, i: int, theta: float, width: int, length: int) -> float:
    pace = theta ** (-2 * i / width)
    wavelength = 2 * math.pi / pace
    if wavelength < c.original / c.high:
        return pace
    if wavelength > c.original / c.low:
        return pace / c.factor
    smooth = (c.original / wavelength - c.low) / (c.high - c.low)
    return (1 - smooth) * pace / c.factor + smooth * pace
