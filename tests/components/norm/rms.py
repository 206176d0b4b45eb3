"""Root-mean-square normalisation (Zhang and Sennrich, 2019, section 4, equation 4), with Gemma's offset on the gain."""

from __future__ import annotations

import math

import numpy as np

from tests.components.places import norm_places

PROBES = {
    "eps": norm_places("rms(eps: 1e-6)", "rms(eps: 1e-5)", small=True),
    "weight": norm_places("rms(eps: 1e-5)", "rms(eps: 1e-5, weight: false)"),
    "offset": norm_places("rms(eps: 1e-5)", "rms(eps: 1e-5, offset: 1)")
    + norm_places("rms(eps: 1e-5, offset: 1)", "rms(eps: 1e-5, offset: 0.5)"),
}


def token(c, w, x):
    square = sum(float(number) ** 2 for number in x) / len(x)
    gains = w["weight"] if c.weight else [1] * len(x)
    return np.array([number / math.sqrt(square + c.eps) * (c.offset + gain) for number, gain in zip(x, gains, strict=True)])
