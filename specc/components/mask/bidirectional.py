"""No mask: every query sees every key (Devlin et al., 2018)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.ir.node import Component


class Bidirectional(Component):
    """A query sees every key of its sequence."""

    axis: ClassVar[str] = "mask"
    kind: Literal["bidirectional"] = "bidirectional"
    causal: ClassVar[bool] = False
    reach: ClassVar[int | None] = None

    def visible(self, g, query, key):
        return None
