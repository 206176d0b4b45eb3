"""A frame with something in front of the tokens: learned keys and values, or learned embeddings."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from specc.backends.onnx.adapter.builder import AdaptedBuilder
from specc.backends.onnx.builder import Value
from specc.backends.onnx.decoder import DecoderFrame
from specc.backends.onnx.frame import Frame


class FrameAhead(Frame):
    """What the first call of a text puts in front of it counts as tokens from then on: in the cache, the mask, and positions.

    A mask that says nothing of it is filled up on the left, and positions are then moved by as much.
    """

    g: AdaptedBuilder

    def __init__(self, *given: Any, past: tuple[str, tuple[int | str, ...]] | None) -> None:
        """past: the name and the extents of the first cache, in a stack that keeps one."""
        super().__init__(*given)
        self._cache = past

    @property
    def _kept(self) -> Value:
        """-> scalar: the columns that earlier calls have kept"""

        def make() -> Value:
            name, extents = self._cache
            shape = self.g.op("Shape", super(FrameAhead, self).given(name, extents, self.g.compute))
            return self.g.op("Gather", shape, self.g.integer(extents.index("past_sequence")))

        return self._once("kept", make)

    @property
    def _first(self) -> Value:
        """-> bool scalar: whether nothing has been kept yet"""
        return self._once("first", lambda: self.g.op("Equal", self._kept, self.g.integer(0)))

    def ahead(self, what: Value | None, axis: int) -> Value:
        """-> scalar: how much of `what` this call puts in front; 0 in a later call"""
        if what is None:
            return self.g.integer(0)

        def make() -> Value:
            length = self.g.op("Gather", self.g.op("Shape", what), self.g.integer(axis))
            return self.g.op("Where", self._first, length, self.g.integer(0)) if self.causal else length

        return self._once(f"ahead of {what}", make)

    @property
    def keys_ahead(self) -> Value:
        return self.ahead(self.g.keys_ahead(), 1)

    @property
    def tokens_ahead(self) -> Value:
        return self.ahead(self.g.tokens_ahead(), 0)

    # ---- inputs

    def given(self, name: str, shape: tuple[int | str, ...] = ("batch", "sequence"), dtype: str = "int64") -> Value:
        value = super().given(name, shape, dtype)
        if shape != ("batch", "sequence") or name in ("attention_mask", "position_ids") or self.g.tokens_ahead() is None:
            return value
        return self._once(f"padded {name}", lambda: self._filled(value, self.tokens_ahead, 0))

    def _filled(self, x: Value, count: Value, number: int) -> Value:
        """x [B, T] with `count` columns of a number in front."""
        batch = self.g.op("Gather", self.g.op("Shape", x), self.g.integer(0))
        columns = self.g.op("Expand", self.g.constant([[number]], "int64"), self._extents(batch, count))
        return self.g.op("Concat", columns, x, axis=1)

    @cached_property
    def _given_mask(self) -> Value:
        return super().given("attention_mask", ("batch", self.all_tokens))

    @cached_property
    def missing(self) -> Value:
        """-> scalar: the columns that the mask lacks"""

        def make() -> Value:
            columns = self.g.op("Add", self.new, self.keys_ahead)
            if self.causal:
                columns = self.g.op("Add", columns, self._kept)
            return self.g.op("Sub", columns, self.g.op("Gather", self.g.op("Shape", self._given_mask), self.g.integer(1)))

        return self._once("missing", make)

    @cached_property
    def attention_mask(self) -> Value:
        return self._once("whole mask", lambda: self._filled(self._given_mask, self.missing, 1))

    @property
    def total(self) -> Value:
        return self._once("total", lambda: self.g.op("Gather", self.g.op("Shape", self.attention_mask), self.g.integer(1)))

    @property
    def query(self) -> Value:
        def make() -> Value:
            return self.g.op("Range", self.g.op("Sub", self.total, self.new), self.total, self.g.integer(1))

        return self._once("query", make)

    @property
    def positions(self) -> Value:
        if not self.causal:  # columns of the tokens, and of what stands among them
            row = self._once("columns", lambda: self.g.op("Range", self.g.integer(0), self.new, self.g.integer(1)))
            return self._once("positions", lambda: self.g.op("Expand", row, self.batch_and_new))

        def make() -> Value:
            own = self.g.op("Add", super(FrameAhead, self).given("position_ids"), self.missing)
            first = self.g.op("Sub", self.missing, self.tokens_ahead)
            front = self.g.op("Range", first, self.g.op("Add", first, self.tokens_ahead), self.g.integer(1))
            front = self.g.op("Expand", self.g.op("Unsqueeze", front, self.g.constant([0], "int64")), self._extents(self.batch, self.tokens_ahead))
            return self.g.op("Concat", front, own, axis=1)

        return self._once("positions", make)

    # ---- what comes out

    def outward(self, x: Value, shape: tuple[int | str, ...]) -> Value:
        """An output without what was put among the tokens."""
        if "sequence" not in shape or self.g.tokens_ahead() is None:
            return x
        axis = shape.index("sequence")
        start = self.g.reshape(self.tokens_ahead, (1,))
        return self.g.op("Slice", x, start, self.g.constant([2**62], "int64"), self.g.constant([axis], "int64"))


class DecoderFrameAhead(DecoderFrame):
    """The same in front of an encoder-decoder's target, whose rows are not padded."""

    g: AdaptedBuilder

    @property
    def keys_ahead(self) -> Value:
        """-> scalar: how many keys this call puts in front; 0 in a later call"""

        def make() -> Value:
            length = self.g.op("Gather", self.g.op("Shape", self.g.keys_ahead()), self.g.integer(1))
            return self.g.op("Where", self.g.op("Equal", self._kept, self.g.integer(0)), length, self.g.integer(0))

        return self._once("keys ahead", make)

    @property
    def _kept(self) -> Value:
        return self._once("kept", lambda: self.g.op("Gather", self.g.op("Shape", self._past), self.g.integer(2)))

    @property
    def total(self) -> Value:
        """-> scalar S"""
        return self._once("total", lambda: self.g.op("Add", self.g.op("Add", self._kept, self.new), self.keys_ahead))
