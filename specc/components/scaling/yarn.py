"""YaRN (Peng et al., 2023, https://arxiv.org/abs/2309.00071)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from specc.components.scaling.base import Scaling, powers
from specc.ir.node import Dims, Finding, structural


class Yarn(Scaling):
    """Slow channels interpolated by `factor`, fast ones kept, a ramp between them; cosines and sines scaled.

    The ramp runs between the channels that turn beta_fast and beta_slow times within `original` positions, rounded outwards
    where `truncate`. The amplitude is attention_factor, or m(mscale) / m(mscale_all_dim) with m(s) = 0.1 s ln(factor) + 1,
    or m(1) where neither is given.
    """

    kind: Literal["yarn"] = "yarn"
    factor: float = Field(gt=0)
    original: int = Field(gt=0)
    beta_fast: float = Field(default=32.0, gt=0)
    beta_slow: float = Field(default=1.0, gt=0)
    truncate: bool = structural(True)
    attention_factor: float | None = Field(default=None, gt=0)
    mscale: float | None = Field(default=None, gt=0)
    mscale_all_dim: float | None = Field(default=None, gt=0)

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        return given if dims.context is None else {"original": dims.context, **given}

    def check(self, dims: Dims) -> Iterator[Finding]:
        if (self.mscale is None) != (self.mscale_all_dim is None):
            yield Finding("mscale", "TYP005", "`mscale` and `mscale_all_dim` only mean something together")
        if self.attention_factor is not None and self.mscale is not None:
            yield Finding("attention_factor", "TYP005", "`attention_factor` decides the amplitude, so `mscale` would do nothing")

    def _magnitude(self, scale: float) -> float:
        return 0.1 * scale * math.log(self.factor) + 1.0 if self.factor > 1 else 1.0

    def amplitude(self) -> float:
        if self.attention_factor is not None:
            return self.attention_factor
        if self.mscale is not None and self.mscale_all_dim is not None:
            return self._magnitude(self.mscale) / self._magnitude(self.mscale_all_dim)
        return self._magnitude(1.0)

    def score_factor(self) -> float:
        return 1.0 if self.mscale_all_dim is None else self._magnitude(self.mscale_all_dim) ** 2

    def ramp_ends(self, theta: float, width: int) -> tuple[float, float]:
        """The channels, as fractions of pairs, where interpolation begins and is complete."""
        low, high = (width * math.log(self.original / (turns * 2 * math.pi)) / (2 * math.log(theta)) for turns in (self.beta_fast, self.beta_slow))
        if self.truncate:
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, width - 1)
        return low, high + 0.001 if low == high else high

    def check_base(self, theta: float) -> Iterator[Finding]:
        if theta == 1:
            yield Finding("theta", "VAL001", "under yarn `theta` must not be 1: all channels would turn alike, and none would be the slow ones")

    def inert_at(self, theta: float, width: int) -> tuple[str, ...]:
        """Few channels may all lie on the same side of the ramp, however its ends are rounded."""
        other = self.replaced(truncate=not self.truncate)
        ramps = []
        for scaling in (self, other):
            low, high = scaling.ramp_ends(theta, width)
            ramps.append([min(max((n - low) / (high - low), 0.0), 1.0) for n in range(width // 2)])
        return ("truncate",) if ramps[0] == ramps[1] else ()

    def frequencies(self, g, frame, theta: float, width: int):
        import numpy as np

        one, power = np.float32(1.0), powers(theta, width)
        low, high = self.ramp_ends(theta, width)
        ramp = np.clip((np.arange(width // 2, dtype=np.float32) - np.float32(low)) / np.float32(high - low), 0, 1).astype(np.float32)
        kept = one - ramp
        blend = one / (np.float32(self.factor) * power) * (one - kept) + one / power * kept
        return g.constant(blend.astype(np.float32))
