"""What a decoder's layers are given beside an encoder: its output, and sizes that follow from the cache alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from specc.backends.onnx.builder import Builder, Value
from specc.backends.onnx.frame import Frame
from specc.ir.node import Component, Dims


class DecoderFrame(Frame):
    """The frame of a decoder: its rows are not padded, so a token's position is its column, counted from the start of the cache.

    past: the input that holds the first keys kept, [B, K, past, D].
    """

    def __init__(self, g: Builder, past: Value, schemes: Mapping[tuple[Component, int, int], str], dims: Dims) -> None:
        super().__init__(g, True, schemes, dims)
        self._past = past

    @property
    def total(self) -> Value:
        """-> scalar S"""

        def make() -> Value:
            past = self.g.op("Gather", self.g.op("Shape", self._past), self.g.integer(2))
            return self.g.op("Add", past, self.new)

        return self._once("total", make)

    @property
    def positions(self) -> Value:
        """-> [B, T]"""
        return self._once("positions", lambda: self.g.op("Expand", self.query, self.batch_and_new))

    @property
    def key_positions(self) -> Value:
        """-> [B, S]"""
        return self._once("key_positions", lambda: self.g.op("Expand", self.key_row, self._extents(self.batch, self.total)))

    @property
    def padding(self) -> Value:
        """-> [1, 1, 1, 1]: none"""
        return self.g.constant([[[[0]]]], "int64")

    def _visible(self, mask: Component) -> Value:
        """-> bool [B, 1, T, S]"""
        visible = mask.visible(self.g, self.query_column, self.key_row, self)
        return self.g.op("Expand", visible, self._extents(self.batch, 1, self.new, self.total))


class Memory:
    """The encoder's output, as a decoder's layers read it. M its tokens, L = B * M."""

    def __init__(self, g: Builder, frame: Frame, width: int) -> None:
        self.g, self.frame, self.width = g, frame, width
        self.hidden = frame.given("encoder_hidden_states", ("batch", "encoder_sequence", width), g.compute)
        self.real = g.memory_mask(self.hidden, frame.given("encoder_attention_mask", ("batch", "encoder_sequence")))

    @property
    def rows(self) -> Value:
        """-> [L, C]"""
        return self.frame._once("memory_rows", lambda: self.g.reshape(self.hidden, (-1, self.width)))

    def sequences(self, x: Value) -> Value:
        """x [L, C] -> [B, M, C]"""

        def make() -> Value:
            extents = self.g.op("Slice", self.g.op("Shape", self.hidden), *(self.g.constant([n], "int64") for n in (0, 2)))
            return self.g.op("Concat", extents, self.g.constant([-1], "int64"), axis=0)

        return self.g.op("Reshape", x, self.frame._once("memory_shape", make))

    @property
    def visible(self) -> Value:
        """-> bool [B, 1, T, M]: its real tokens"""

        def make() -> Value:
            real = self.g.op("Unsqueeze", self.g.op("Cast", self.real, to="bool"), self.g.constant([1, 2], "int64"))
            tokens = self.g.op("Gather", self.g.op("Shape", self.real), self.g.integer(1))
            return self.g.op("Expand", real, self.frame._extents(self.frame.batch, 1, self.frame.new, tokens))

        return self.frame._once("memory_visible", make)

    def once(self, past: dict[str, Value], made: Callable[[], tuple[Value, Value]]) -> tuple[Value, Value]:
        """Keys and values [B, K, M, D]: computed where nothing is kept yet, else as they were kept."""

        def first() -> Value:
            kept = self.g.op("Gather", self.g.op("Shape", past["key"]), self.g.integer(2))
            return self.g.op("Equal", kept, self.g.integer(0))

        kept = (past["key"], past["value"])
        return self.g.eithers(self.frame._once("first", first), made, lambda: tuple(self.g.op("Identity", x) for x in kept), outputs=2)
