"""Learned absolute positions (Gehring et al., 2017; Devlin et al., 2018, https://arxiv.org/abs/1810.04805)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from specc.components.embed.base import Part
from specc.ir.node import Dims, Finding, Parameter, structural


class LearnedPosition(Part):
    """The row of the table that the token's position names, `offset` rows further down (2 in OPT, BART and RoBERTa).

    grid: of an image's table, the rows and columns of patches that its last entries belong to. An image of another grid gets
    them bicubically interpolated (Dosovitskiy et al., 2020, section 3.2); what stands in front of the patches keeps its own.
    antialias: with Keys' kernel for a = -1/2, widened where the grid shrinks, in place of his for -3/4 (DINOv2 with registers).
    """

    native: ClassVar[dict[str, str]] = dict.fromkeys(("kind", "length"), "Gather")
    stands_for: ClassVar[Literal["patch", "token", "position"]] = "position"
    kind: Literal["learned_position"] = "learned_position"
    length: int = Field(gt=0)
    offset: int = Field(default=0, ge=0)
    grid: tuple[int, int] | None = structural(None)
    antialias: bool = structural(False)

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        filled = super().complete(given, dims)
        if dims.context is not None:
            filled.setdefault("length", dims.context)
        if dims.image is not None:
            filled.setdefault("grid", dims.image.grid)
        return filled

    @classmethod
    def missing(cls, name: str, given: dict[str, Any], dims: Dims) -> Finding | None:
        if name == "length" and dims.image is not None:
            return Finding("length", "VAL003", "a table of positions is as long as what it is added to", "write it behind that, or state `length:`")
        if name == "length":
            message = "a learned position table needs its length, and the model states no `context`"
            return Finding("length", "VAL003", message, "add `context = ...` to the model, or `length:` here")
        return None

    def check(self, dims: Dims) -> Iterator[Finding]:
        if (self.grid is None) != (dims.image is None):
            wrong = "its positions are those of a grid of patches" if self.grid is None else "text has no grid of patches"
            yield Finding("grid", "IMG002", f"this model reads {'images' if dims.image else 'no images'}: {wrong}")
        elif self.grid is not None and (min(self.grid) < 1 or self.length < self.patches):
            yield Finding("grid", "IMG001", f"a table of {self.length} rows holds no grid of {self.grid[0]} times {self.grid[1]} patches")
        elif self.grid is None and self.antialias:
            yield Finding("antialias", "IMG002", "text has no grid of patches that would be interpolated")
        elif self.grid is not None and self.offset:
            yield Finding("offset", "IMG001", "a table for a grid of patches has no rows to pass over")

    @property
    def patches(self) -> int:
        """How many of the rows belong to patches: the last ones."""
        return self.grid[0] * self.grid[1] if self.grid else 0

    @property
    def leading(self) -> int:
        """How many rows stand in front of those."""
        return self.length - self.patches

    def tokens(self, dims: Dims) -> int | None:
        return self.length if self.grid else None

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return (Parameter("weight", (self.length + self.offset, self.width)),)

    def shrunk(self, plan) -> LearnedPosition:
        grid = plan.grid(self.grid) if self.grid else None
        length = self.leading + grid[0] * grid[1] if grid else plan.length(self.length)
        return self.replaced(width=plan.width(self.width), length=length, grid=grid)

    def lower(self, g, call, x=None):
        """-> [N, width]"""
        if self.grid is not None:
            return call.frame.picture.repeated(self._resized(g, call.frame.picture))
        rows = call.frame.flat_positions()
        if self.offset:
            rows = g.op("Add", rows, g.integer(self.offset))
        return g.op("Gather", g.parameter("weight"), rows)

    def _resized(self, g, picture):
        """-> [T, width]: the rows of the patches at the image's own grid, in float32"""
        table = g.parameter("weight")
        leading = g.op("Slice", table, g.constant([0], "int64"), g.constant([self.leading], "int64"), g.constant([0], "int64"))
        patches = g.op("Slice", table, g.constant([self.leading], "int64"), g.constant([self.length], "int64"), g.constant([0], "int64"))
        patches = g.op("Transpose", g.reshape(g.op("Cast", patches, to="float32"), (1, *self.grid, self.width)), perm=(0, 3, 1, 2))
        shape = picture.sizes(1, self.width, picture.rows, picture.columns)
        options = {"mode": "cubic", "cubic_coeff_a": -0.75, "coordinate_transformation_mode": "half_pixel"}
        if self.antialias:
            options |= {"cubic_coeff_a": -0.5, "antialias": 1, "exclude_outside": 1}
        patches = g.cast(g.op("Resize", patches, None, None, shape, **options))  # [1, C, rows, columns]
        patches = g.reshape(g.op("Transpose", patches, perm=(0, 2, 3, 1)), (-1, self.width))
        return g.op("Concat", leading, patches, axis=0) if self.leading else patches
