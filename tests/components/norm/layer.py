"""Layer normalisation (Ba, Kiros and Hinton, 2016, section 3, equation 3, and the supplement, equation 15).

The offset on the gain is Nemotron's (`LayerNorm1P`); OLMo's norm has neither gain nor bias.
"""

from __future__ import annotations

import math

import numpy as np

from tests.components.places import norm_places

PROBES = {
    "eps": norm_places("layer(eps: 1e-6)", "layer(eps: 1e-5)", small=True),
    "bias": norm_places("layer(eps: 1e-5)", "layer(eps: 1e-5, bias: false)"),
    "weight": norm_places("layer(eps: 1e-5)", "layer(eps: 1e-5, weight: false)")
    + norm_places("layer(eps: 1e-5, bias: false)", "layer(eps: 1e-5, bias: false, weight: false)"),
    "offset": norm_places("layer(eps: 1e-5)", "layer(eps: 1e-5, offset: 1)")
    + norm_places("layer(eps: 1e-5, offset: 1, bias: false)", "layer(eps: 1e-5, offset: 0.5, bias: false)"),
}


def token(c, w, x):
    mean = sum(map(float, x)) / len(x)
    variance = sum((float(number) - mean) ** 2 for number in x) / len(x)
    y = np.array([(number - mean) / math.sqrt(variance + c.eps) for number in x])
    if c.weight:
        y = y * (c.offset + w["weight"])
    return y + w["bias"] if c.bias else y
