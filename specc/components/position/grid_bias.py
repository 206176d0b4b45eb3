"""A learned bias for each way from patch to patch (Liu et al., 2021; Bao et al., 2021, https://arxiv.org/abs/2106.08254)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from specc.components.position.base import Position
from specc.ir.node import Dims, Finding, HeadDims, Parameter, structural


class GridBias(Position):
    """Adds to each score a learned number that depends on the head and on how many rows and columns lie between two patches.

    Three more numbers of a head are for the class token in front of the patches: as a query, as a key, and as both. grid: the
    rows and columns that the table was learned for; for an image of another grid its ways are interpolated linearly. shared:
    one table [(2 * rows - 1) * (2 * columns - 1) + 3, heads] for all layers, or one in each.
    """

    per_head: ClassVar[bool] = True
    kind: Literal["grid_bias"] = "grid_bias"
    grid: tuple[int, int] = structural()
    shared: bool = structural(False)

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        return {"grid": dims.image.grid, **given} if dims.image else given

    @classmethod
    def missing(cls, name: str, given: dict[str, Any], dims: Dims) -> Finding | None:
        return Finding(name, "IMG002", "this bias is for the patches of an image, and the model reads no images")

    def check(self, dims: Dims) -> Iterator[Finding]:
        if dims.image is None:
            yield Finding("kind", "IMG002", "this bias is for the patches of an image, and the model reads no images")
        elif dims.leading != 1:
            yield Finding("kind", "IMG001", f"this bias knows one token in front of the patches, and the model has {dims.leading}")
        elif min(self.grid) < 1:
            yield Finding("grid", "VAL001", "rows and columns must be greater than 0")

    @property
    def ways(self) -> tuple[int, int]:
        """How many ways there are down and across."""
        return 2 * self.grid[0] - 1, 2 * self.grid[1] - 1

    @property
    def scores(self) -> bool:
        return not self.shared

    def shrunk(self, plan) -> GridBias:
        return self.replaced(grid=plan.grid(self.grid))

    def parameters(self, dims: HeadDims) -> tuple[Parameter, ...]:
        return () if self.shared else self._table(dims)

    def shared_parameters(self, dims: HeadDims) -> tuple[Parameter, ...]:
        return self._table(dims) if self.shared else ()

    def _table(self, dims: HeadDims) -> tuple[Parameter, ...]:
        return (Parameter("weight", (self.ways[0] * self.ways[1] + 3, dims.heads), "zeros"),)

    def tables(self, g, frame, width: int):
        """-> int64 [T, T], for each query and key the row of a table at the image's own grid; and the ways down and across that has"""
        picture = frame.picture
        one, patches = g.constant([1], "int64"), g.op("Mul", picture.rows, picture.columns)  # [1]
        down, across = (g.op("Sub", g.op("Add", n, n), one) for n in (picture.rows, picture.columns))
        each = g.op("Range", g.integer(0), g.reshape(patches, ()), g.integer(1))
        places = (g.op("Div", each, picture.columns), picture.rows), (g.op("Mod", each, picture.columns), picture.columns)
        far = [g.op("Add", g.op("Sub", g.reshape(n, (-1, 1)), g.reshape(n, (1, -1))), g.op("Sub", count, one)) for n, count in places]
        way = g.op("Add", g.op("Mul", far[0], across), far[1])  # [patches, patches]
        as_query = g.op("Mul", down, across)
        as_key, as_both = g.op("Add", as_query, one), g.op("Add", as_query, g.constant([2], "int64"))
        left = g.op("Expand", as_key, picture.sizes(patches, 1))
        top = g.op("Concat", g.reshape(as_both, (1, 1)), g.op("Expand", as_query, picture.sizes(1, patches)), axis=1)
        return g.op("Concat", top, g.op("Concat", left, way, axis=1), axis=0), down, across

    def bias(self, g, frame, heads: int):
        """-> [1, H, T, T]"""
        return self._term(g, frame, heads) if self.shared else None

    def score(self, g, q, k, call, attention):
        """-> [1, H, T, T]"""
        if self.shared:
            return None
        with g.scope("position"):
            return self._term(g, call.frame, attention.heads)

    def _term(self, g, frame, heads: int):
        rows, down, across = frame.tables(self, 0, heads)
        learned = g.op("Transpose", g.parameter("weight"), perm=(1, 0))  # [H, ways + 3]
        ways, ends = g.ops("Split", learned, g.constant([self.ways[0] * self.ways[1], 3], "int64"), outputs=2, axis=1)
        ways = g.op("Cast", g.reshape(ways, (1, heads, *self.ways)), to="float32")
        options = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
        ways = g.cast(g.op("Resize", ways, None, None, frame.picture.sizes(1, heads, down, across), **options))
        table = g.op("Concat", g.reshape(ways, (heads, -1)), ends, axis=1)
        return g.op("Unsqueeze", g.op("Gather", table, rows, axis=1), g.constant([0], "int64"))
