"""The prefix language model's mask (Raffel et al., 2019, section 3.2.1, https://arxiv.org/abs/1910.10683)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.components.mask.base import Mask
from specc.ir.node import Input

LENGTH = Input("prefix_length", ("B",), values="beginning", about="how many of a row's first tokens all others see")


class Prefix(Mask):
    """A query sees itself, every earlier key, and all of the first `prefix_length` tokens of its row, padding not counted.

    With a cache, the whole prefix belongs into the first call: what an earlier call has left out can no longer be seen.
    """

    kind: Literal["prefix"] = "prefix"
    causal: ClassVar[bool] = True

    def inputs(self) -> tuple[Input, ...]:
        return (LENGTH,)

    def visible(self, g, query, key, frame):
        end = g.op("Add", frame.padding, g.reshape(frame.wanted(LENGTH), (-1, 1, 1, 1)))
        return g.op("Or", g.op("LessOrEqual", key, query), g.op("Less", key, end))
