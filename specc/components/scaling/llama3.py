"""Llama 3.1's scaling by wavelength (Llama team, 2024, https://arxiv.org/abs/2407.21783)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from specc.components.scaling.base import Scaling, inverse
from specc.ir.node import Dims, Finding


class Llama3(Scaling):
    """Wavelengths above original / low are stretched by `factor`, those below original / high stay, between them a blend."""

    kind: Literal["llama3"] = "llama3"
    factor: float = Field(gt=0)
    low: float = Field(gt=0)
    high: float = Field(gt=0)
    original: int = Field(gt=0)

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        return given if dims.context is None else {"original": dims.context, **given}

    def check(self, dims: Dims) -> Iterator[Finding]:
        if self.high < self.low:
            yield Finding("high", "VAL001", f"`high` is at least `low`, and {self.high} is less than {self.low}")

    def frequencies(self, g, frame, theta: float, width: int):
        import numpy as np

        one = np.float32(1.0)
        plain = inverse(theta, width)
        wavelength = np.float32(2 * math.pi) / plain
        scaled = np.where(wavelength > np.float32(self.original / self.low), plain / np.float32(self.factor), plain)
        if self.high > self.low:
            blend = (np.float32(self.original) / wavelength - np.float32(self.low)) / np.float32(self.high - self.low)
            middle = (one - blend) * scaled / np.float32(self.factor) + blend * scaled
            between = ~(wavelength < np.float32(self.original / self.high)) & ~(wavelength > np.float32(self.original / self.low))
            scaled = np.where(between, middle, scaled)
        return g.constant(scaled.astype(np.float32))
