"""LayerScale (Touvron et al., 2021, equation 2): a diagonal matrix on the residual branch."""

from __future__ import annotations

from tests.components.probe import Case, spec

BLOCK = "block scaled(x) { x = x + gain.attention(attention(norm.attention(x)))  x = x + gain.ffn(ffn(norm.ffn(x))) }"


def _with(gain: str) -> str:
    return spec(BLOCK, block="scaled", final_norm="norm", gain=gain)


CASES = (Case(_with("layer_scale(init: 0.1)"), (spec(),)),)


def token(c, w, x):
    return w["weight"] * x
