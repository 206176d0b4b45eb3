"""Linear position interpolation (Chen et al., 2023, https://arxiv.org/abs/2306.15595)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.components.scaling.base import Scaling, inverse


class Linear(Scaling):
    """Every frequency divided by `factor`."""

    kind: Literal["linear"] = "linear"
    positional: ClassVar[tuple[str, ...]] = ("factor",)
    factor: float = Field(gt=0)

    def frequencies(self, g, frame, theta: float, width: int):
        import numpy as np

        return g.constant(inverse(theta, width) / np.float32(self.factor))
