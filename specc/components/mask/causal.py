"""The causal mask (Vaswani et al., 2017, section 3.2.3)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.components.mask.base import Mask


class Causal(Mask):
    """A query sees itself and every earlier key."""

    kind: Literal["causal"] = "causal"
    causal: ClassVar[bool] = True

    def visible(self, g, query, key, frame):
        return g.op("LessOrEqual", key, query)
