"""The window that looks both ways (Beltagy et al., 2020, section 3.1, https://arxiv.org/abs/2004.05150)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.components.mask.base import Mask


class Window(Mask):
    """A query sees itself, the `left` keys before and the `right` keys after it.

    ModernBERT's local attention of 128 is window(64, 64): half of it on either side, both ends included.
    """

    positional: ClassVar[tuple[str, ...]] = ("left", "right")
    kind: Literal["window"] = "window"
    left: int = Field(ge=0)
    right: int = Field(ge=0)

    @property
    def causal(self) -> bool:
        return self.right == 0

    @property
    def reach(self) -> int:
        return self.left + 1 + self.right

    def pairs(self, tokens: int) -> int:
        return tokens + sum(side * tokens - side * (side + 1) // 2 for side in (min(s, tokens - 1) for s in (self.left, self.right)))

    def shrunk(self, plan) -> Window:
        return self.replaced(left=plan.window(self.left), right=plan.window(self.right))

    def visible(self, g, query, key, frame):
        oldest = g.op("Sub", query, g.integer(self.left))
        latest = g.op("Add", query, g.integer(self.right))
        return g.op("And", g.op("GreaterOrEqual", key, oldest), g.op("LessOrEqual", key, latest))
