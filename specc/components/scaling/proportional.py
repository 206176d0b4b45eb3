"""Proportional rope: only the fastest channels turn, at the pace they have in the whole head (Gemma 4)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from specc.components.scaling.base import Scaling, powers


class Proportional(Scaling):
    """The first share * width / 2 pairs turn, the others stand still; every frequency is divided by `factor`."""

    kind: Literal["proportional"] = "proportional"
    share: float = Field(gt=0, le=1)
    factor: float = Field(default=1.0, gt=0)

    def turned(self, width: int) -> int:
        """How many pairs turn."""
        return int(self.share * width // 2)

    def frequencies(self, g, frame, theta: float, width: int):
        import numpy as np

        plain = np.float32(1.0) / powers(theta, 2 * self.turned(width), width)
        still = np.zeros(width // 2 - len(plain), np.float32)
        return g.constant(np.concatenate([plain, still]) / np.float32(self.factor))
