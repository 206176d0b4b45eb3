"""The sizes of a call that brings images: batch, rows and columns of patches, tokens, each made once when first asked for."""

from __future__ import annotations

from specc.backends.onnx.builder import Builder, Value
from specc.ir.node import Dims


class PictureFrame:
    """B images of H times W pixels; an image of another size than the model's own has another grid of patches."""

    def __init__(self, g: Builder, dims: Dims, pixels: Value) -> None:
        self.g, self.dims, self.pixels = g, dims, pixels
        self._made: dict[str, Value] = {}

    def _once(self, name: str, make) -> Value:
        if name not in self._made:
            with self.g.outside():
                self._made[name] = make()
        return self._made[name]

    def _extent(self, name: str, axis: int) -> Value:
        """-> [1]"""
        return self._once(name, lambda: self.g.op("Shape", self.pixels, start=axis, end=axis + 1))

    @property
    def batch(self) -> Value:
        """-> [1]"""
        return self._extent("batch", 0)

    @property
    def rows(self) -> Value:
        """-> [1]: whole patches down"""
        return self._once("rows", lambda: self.g.op("Div", self._extent("height", 2), self.g.constant([self.dims.image.patch[0]], "int64")))

    @property
    def columns(self) -> Value:
        """-> [1]: whole patches across"""
        return self._once("columns", lambda: self.g.op("Div", self._extent("width", 3), self.g.constant([self.dims.image.patch[1]], "int64")))

    @property
    def batch_and_new(self) -> Value:
        """-> [2]: B, T"""

        def make() -> Value:
            patches = self.g.op("Mul", self.rows, self.columns)
            tokens = self.g.op("Add", patches, self.g.constant([self.dims.leading], "int64")) if self.dims.leading else patches
            return self.g.op("Concat", self.batch, tokens, axis=0)

        return self._once("batch_and_new", make)

    def sizes(self, *extents: Value | int) -> Value:
        """A shape out of one-element values and integers."""
        return self.g.op("Concat", *(self.g.constant([e], "int64") if isinstance(e, int) else e for e in extents), axis=0)

    def repeated(self, rows: Value) -> Value:
        """The same rows [n, C] for every image -> [B * n, C]"""
        shape = self._once("repeated", lambda: self.sizes(self.batch, 1, 1))
        return self.g.op("Flatten", self.g.op("Expand", rows, shape), axis=2)

    def joined(self, parts: list[Value]) -> Value:
        """Values [B * n, C] one after the other, image by image -> [B * all of them, C]"""
        return self.g.op("Flatten", self.g.op("Concat", *map(self._by_image, parts), axis=1), axis=2)

    def parted(self, x: Value, at: int) -> tuple[Value, Value]:
        """x [B * n, C] -> its first `at` tokens of every image and the others, each in such rows"""
        g, whole = self.g, self._by_image(x)
        axis, cut = g.constant([1], "int64"), g.constant([at], "int64")
        before = g.op("Slice", whole, g.constant([0], "int64"), cut, axis)
        after = g.op("Slice", whole, cut, g.constant([2**62], "int64"), axis)
        return g.op("Flatten", before, axis=2), g.op("Flatten", after, axis=2)

    def _by_image(self, x: Value) -> Value:
        """x [B * n, C] -> [B, n, C]"""
        width = self.g.op("Shape", x, start=1, end=2)
        return self.g.op("Reshape", x, self.sizes(self.batch, -1, width))
