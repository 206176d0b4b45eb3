"""What a mask offers; one that says nothing else hides nothing."""

from __future__ import annotations

from typing import ClassVar

from specc.ir.node import Component


class Mask(Component):
    """Base of the axis.

    causal: no query sees a key that a later call brings, so that keys and values can be kept from call to call.
    reach: how many keys a query sees at most, itself included; None where there is no such bound.
    counts_anew: whether rows hold several texts, so that a caller may want positions that begin again with each.
    """

    axis: ClassVar[str] = "mask"
    causal: ClassVar[bool] = False
    reach: ClassVar[int | None] = None
    counts_anew: ClassVar[bool] = False

    def visible(self, g, query, key, frame):
        return None

    def pairs(self, tokens: int) -> int:
        """How many pairs of a query and a key that it sees a sequence of so many tokens has."""
        full = min(self.reach or tokens, tokens)
        return full * (full + 1) // 2 + (tokens - full) * full if self.causal else tokens * full
