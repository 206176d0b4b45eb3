"""YaRN (Peng et al., 2023, sections 3.2 and 3.4); its ramp goes by pair and its rounding is as in the authors' published code.

`mscale` and `mscale_all_dim` are DeepSeek-V2's (its published code, `yarn_get_mscale`).
"""

from __future__ import annotations

import math

from tests.components.places import scaled
from tests.components.probe import Probe, spec


def _with(rest: str = "", factor: float = 4, original: int = 64, **fields: object) -> str:
    return scaled(f"yarn(factor: {factor}, original: {original}{rest and ', '}{rest})", **fields)


def _latent(mscale_all_dim: float) -> str:
    return spec(
        position=f"rope(theta: 100, scaling: yarn(factor: 4, original: 64, mscale: 1, mscale_all_dim: {mscale_all_dim}))",
        attention="mla(heads: 2, kv_rank: 6, nope_dim: 4, rope_dim: 8, value_dim: 5, latent_norm: rms(eps: 1e-5))",
    )


PROBES = {  # a pair p turns n times within 64 positions at p = 2 ln(10.2 / n) / ln 10: once at 2.0, twice at 1.4
    "factor": (Probe(_with(factor=4), _with(factor=2)), Probe(_with(factor=4), _with(factor=0.5))),
    "original": (
        Probe(_with(original=64), _with(original=256)),
        Probe(scaled("yarn(factor: 4)", context=64), scaled("yarn(factor: 4)", context=256), follows=("context",)),
    ),
    "beta_fast": (
        Probe(_with(), _with("beta_fast: 2")),
        Probe(_with("truncate: false, beta_fast: 3"), _with("truncate: false, beta_fast: 1")),  # no ramp is left
    ),
    "beta_slow": (Probe(_with(), _with("beta_slow: 4")), Probe(_with("truncate: false"), _with("truncate: false, beta_slow: 0.5"))),
    "truncate": (Probe(_with(), _with("truncate: false")), Probe(_with("beta_fast: 3, truncate: false"), _with("beta_fast: 3"))),
    "attention_factor": (
        Probe(_with(), _with("attention_factor: 1.5")),
        Probe(_with("attention_factor: 1.5"), _with("attention_factor: 0.75")),
    ),
    "mscale": (
        Probe(_with("mscale: 1, mscale_all_dim: 0.8"), _with("mscale: 0.5, mscale_all_dim: 0.8")),
        Probe(_with(), _with("mscale: 2, mscale_all_dim: 0.5"), follows=("mscale_all_dim",)),
    ),
    "mscale_all_dim": (
        Probe(_with("mscale: 1, mscale_all_dim: 0.8"), _with("mscale: 1, mscale_all_dim: 2")),
        Probe(_latent(0.5), _latent(2)),  # the scale of latent attention grows with it too
    ),
}


def frequency(c, i: int, theta: float, width: int, length: int) -> float:
    low, high = (width * math.log(c.original / (turns * 2 * math.pi)) / (2 * math.log(theta)) for turns in (c.beta_fast, c.beta_slow))
    if c.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    if low == high:
        high += 0.001
    interpolated = min(max((i - low) / (high - low), 0), 1)
    pace = theta ** (-2 * i / width)
    return interpolated * pace / c.factor + (1 - interpolated) * pace


def amplitude(c) -> float:
    if c.attention_factor is not None:
        return c.attention_factor
    if c.mscale is not None and c.mscale_all_dim is not None:
        return _magnitude(c.factor, c.mscale) / _magnitude(c.factor, c.mscale_all_dim)
    return _magnitude(c.factor, 1)


def score_factor(c) -> float:
    return 1.0 if c.mscale_all_dim is None else _magnitude(c.factor, c.mscale_all_dim) ** 2


def _magnitude(factor: float, scale: float) -> float:
    return 0.1 * scale * math.log(factor) + 1 if factor > 1 else 1.0
