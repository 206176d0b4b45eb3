"""What the parts of the embedding have in common."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from specc.ir.node import Component, Dims


class Embedded(Component):
    """A source (`takes` 0 inputs) or a map (`takes` 1) of the embedding formula.

    stands_for: what one of its tokens is in an image: a patch, a token of its own, or the position of any.
    of_images: whether it stands only in models that read images (True), only in others (False), or in both (None).
    whole_rows: whether a token's value depends on all tokens of its row, so that a row cannot be read step by step.
    """

    axis: ClassVar[str] = "embed"
    takes: ClassVar[int] = 0
    stands_for: ClassVar[Literal["patch", "token", "position"]] = "token"
    of_images: ClassVar[bool | None] = None
    whole_rows: ClassVar[bool] = False

    def tokens(self, dims: Dims) -> int | None:
        """How many tokens a source makes of an image of the model's own size; None where it belongs to text."""
        return None

    def flops(self, dims: Dims, context: float) -> int:
        return 0  # a look-up


class Part(Embedded):
    """One that chooses the `width` of its result."""

    width: int = Field(gt=0)

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        return {"width": dims.dim, **given}

    def shrunk(self, plan) -> Self:
        return self.replaced(width=plan.width(self.width))
