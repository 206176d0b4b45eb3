"""Causal attention within blocks (Llama 4: Meta, 2025, https://github.com/meta-llama/llama-models)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.components.mask.base import Mask


class Chunked(Mask):
    """A query sees itself and the earlier keys of its block; a block holds `size` tokens, counted from a row's first real one."""

    positional: ClassVar[tuple[str, ...]] = ("size",)
    kind: Literal["chunked"] = "chunked"
    size: int = Field(gt=0)
    causal: ClassVar[bool] = True

    @property
    def reach(self) -> int:
        return self.size

    def pairs(self, tokens: int) -> int:
        whole, rest = divmod(tokens, self.size)
        return whole * (self.size * (self.size + 1) // 2) + rest * (rest + 1) // 2

    def shrunk(self, plan) -> Chunked:
        return self.replaced(size=plan.window(self.size))

    def visible(self, g, query, key, frame):
        # the division rounds toward zero: left padding, which is below it, may count with the first block and is hidden anyway
        blocks = [g.op("Div", g.op("Sub", column, frame.padding), g.integer(self.size)) for column in (query, key)]
        return g.op("And", g.op("LessOrEqual", key, query), g.op("Equal", *blocks))
