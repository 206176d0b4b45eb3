"""What the parts of the embedding have in common."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import Field

from specc.ir.node import Component, Dims


class Part(Component):
    """A source (`takes` 0 inputs) or a map (`takes` 1) of the embedding formula. `width` is the width of its result."""

    axis: ClassVar[str] = "embed"
    takes: ClassVar[int] = 0
    width: int = Field(gt=0)

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        return {"width": dims.dim, **given}

    def shrunk(self, plan) -> Self:
        return self.replaced(width=plan.width(self.width))

    def flops(self, dims: Dims, context: float) -> int:
        return 0  # a look-up
