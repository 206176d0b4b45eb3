"""What rope scalings have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

from specc.ir.node import Component, Dims, Finding


def powers(theta: float, width: int, over: int | None = None):
    """theta^(2i / over) as float32 [width / 2]: the exponent rounded to float32, the power taken in float64 and rounded."""
    import numpy as np

    exponent = np.arange(0, width, 2, dtype=np.float32) / np.float32(over or width)
    return np.power(np.float64(theta), exponent.astype(np.float64)).astype(np.float32)


def inverse(theta: float, width: int):
    """theta^(-2i / width) as float32 [width / 2]"""
    import numpy as np

    return np.float32(1.0) / powers(theta, width)


class Scaling(Component):
    """Base of the axis."""

    axis: ClassVar[str] = "scaling"

    def amplitude(self) -> float:
        """The factor on cosines and sines."""
        return 1.0

    def score_factor(self) -> float:
        """What latent attention multiplies its scale by."""
        return 1.0

    def inert_at(self, theta: float, width: int) -> tuple[str, ...]:
        """Fields that mean nothing for this base and this many turned channels."""
        return ()

    def check_width(self, width: int) -> Iterator[Finding]:
        """What is wrong with it for this many turned channels."""
        return iter(())

    def check_base(self, theta: float) -> Iterator[Finding]:
        """What is wrong with it for this base."""
        return iter(())

    def shrunk(self, plan) -> Self:
        """Its context is shorter than a proof's sequence, as a window is: else nothing of it would be seen."""
        original = getattr(self, "original", None)
        return self if original is None else self.replaced(original=plan.window(original))

    @classmethod
    def missing(cls, name: str, given: dict[str, Any], dims: Dims) -> Finding | None:
        if name == "original" and dims.context is None:
            message = "this scaling needs the context the model was trained with, and the model states none"
            return Finding("original", "VAL003", message, "add `original: ...` here, or `context = ...` to the model")
        return None
