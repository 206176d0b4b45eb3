"""LongRoPE (Ding et al., 2024, https://arxiv.org/abs/2402.13753), in the form of Phi-3."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from specc.components.scaling.base import Scaling, powers
from specc.ir.node import Dims, Finding


class LongRope(Scaling):
    """Each frequency divided by a factor of its own: from `short` up to `original` positions, from `long` past them.

    The longest position of the call decides for all its tokens. The amplitude is attention_factor, or
    sqrt(1 + ln(factor) / ln(original)) with factor the context over `original`.
    """

    by_longest: ClassVar[bool] = True
    kind: Literal["longrope"] = "longrope"
    short: tuple[float, ...]
    long: tuple[float, ...]
    original: int = Field(gt=1)
    factor: float = Field(gt=0)
    attention_factor: float | None = Field(default=None, gt=0)

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        original = given.get("original")
        if dims.context is None or not isinstance(original, int) or original < 1:
            return given
        return {"factor": dims.context / original, **given}

    def check_width(self, width: int) -> Iterator[Finding]:
        for name in ("short", "long"):
            if len(getattr(self, name)) != width // 2:
                yield Finding(name, "SHP007", f"`{name}` holds {len(getattr(self, name))} factors, and rope turns {width // 2} pairs of channels")

    def inert_at(self, theta: float, width: int) -> tuple[str, ...]:
        """An amplitude that is stated is not made of the factor."""
        return ("factor",) if self.attention_factor is not None else ()

    def shrunk(self, plan) -> LongRope:
        pairs = len(self.short)
        kept = range(0, pairs, max(1, pairs // (plan.head_width(2 * pairs) // 2)))[: plan.head_width(2 * pairs) // 2]
        short, long = (tuple(factors[i] for i in kept) for factors in (self.short, self.long))
        return super().shrunk(plan).replaced(short=short, long=long)

    def amplitude(self) -> float:
        if self.attention_factor is not None:
            return self.attention_factor
        return math.sqrt(1 + math.log(self.factor) / math.log(self.original)) if self.factor > 1 else 1.0

    def frequencies(self, g, frame, theta: float, width: int):
        import numpy as np

        one, power = np.float32(1.0), powers(theta, width)
        short, long = (one / (np.array(factors, np.float32) * power) for factors in (self.short, self.long))
        past = g.op("Greater", frame.longest(), g.constant(float(self.original), "float32"))
        return g.op("Where", past, g.constant(long), g.constant(short))
