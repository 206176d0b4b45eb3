"""The causal sliding window (Beltagy et al., 2020, https://arxiv.org/abs/2004.05150; Jiang et al., 2023, section 2)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.components.mask.base import Mask


class Sliding(Mask):
    """A query sees the `window` latest keys, itself included, and of the earlier ones the first `keep_first`.

    Those are counted from the first real token of a row: left padding takes none of their places (attention sinks by position,
    Xiao et al., 2023, https://arxiv.org/abs/2309.17453).
    """

    positional: ClassVar[tuple[str, ...]] = ("window",)
    kind: Literal["sliding"] = "sliding"
    window: int = Field(gt=0)
    keep_first: int = Field(default=0, ge=0)
    causal: ClassVar[bool] = True

    @property
    def reach(self) -> int:
        return self.window + self.keep_first

    def shrunk(self, plan) -> Sliding:
        return self.replaced(window=plan.window(self.window), keep_first=plan.window(self.keep_first))

    def visible(self, g, query, key, frame):
        near = g.op("GreaterOrEqual", key, g.op("Sub", query, g.integer(self.window - 1)))
        if self.keep_first:
            kept = g.op("Less", key, g.op("Add", frame.padding, g.integer(self.keep_first)))
            near = g.op("Or", near, kept)
        return g.op("And", g.op("LessOrEqual", key, query), near)
