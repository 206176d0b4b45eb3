"""The causal sliding window (Beltagy et al., 2020, https://arxiv.org/abs/2004.05150; Jiang et al., 2023, section 2)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.ir.node import Component


class Sliding(Component):
    """A query sees the `window` latest keys, itself included."""

    axis: ClassVar[str] = "mask"
    first: ClassVar[str | None] = "window"
    kind: Literal["sliding"] = "sliding"
    window: int = Field(gt=0)
    causal: ClassVar[bool] = True

    @property
    def reach(self) -> int:
        return self.window

    def shrunk(self, plan) -> Sliding:
        return self.replaced(window=plan.window(self.window))

    def visible(self, g, query, key):
        oldest = g.op("Sub", query, g.integer(self.window - 1))
        return g.op("And", g.op("LessOrEqual", key, query), g.op("GreaterOrEqual", key, oldest))
