"""The prefix language model's mask (Raffel et al., 2019, section 3.2.1, https://arxiv.org/abs/1910.10683)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.components.mask.base import Mask
from specc.ir.node import Input

LENGTH = Input("prefix_length", ("B",), values="beginning", about="how many of a row's first tokens all others see")


class Prefix(Mask):
    """A query sees itself, every earlier key, and all of the first `prefix_length` tokens of its row, padding not counted.

    With a cache, the whole prefix belongs into the first call: what an earlier call has left out can no longer be seen. A call
    that brings more of it is an error when it runs.
    """

    kind: Literal["prefix"] = "prefix"
    causal: ClassVar[bool] = True

    def inputs(self) -> tuple[Input, ...]:
        return (LENGTH,)

    def visible(self, g, query, key, frame):
        end = g.op("Add", frame.padding, g.reshape(frame.wanted(LENGTH), (-1, 1, 1, 1)))
        end = g.op("Add", end, self._zero(g, end, frame))
        return g.op("Or", g.op("LessOrEqual", key, query), g.op("Less", key, end))

    def _zero(self, g, end, frame):
        """[B, 1, 1, 1]: 0, or an error where the cache holds a part of some row's prefix: the graph has no other word for it than an index out of range."""
        past = g.op("Sub", frame.total, frame.new)
        parted = g.op("And", g.op("Less", frame.padding, past), g.op("Less", past, end))  # [B, 1, 1, 1]
        with g.scope("the whole prefix belongs into the first call"):
            return g.op("Gather", g.constant([0], "int64"), g.op("Cast", parted, to="int64"))
