"""The causal mask (Vaswani et al., 2017, section 3.2.3)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.ir.node import Component


class Causal(Component):
    """A query sees itself and every earlier key."""

    axis: ClassVar[str] = "mask"
    kind: Literal["causal"] = "causal"
    causal: ClassVar[bool] = True
    reach: ClassVar[int | None] = None

    def visible(self, g, query, key):
        return g.op("LessOrEqual", key, query)
