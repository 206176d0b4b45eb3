"""Documents packed into one row that do not see one another (Krell et al., 2021, https://arxiv.org/abs/2107.02027)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.components.mask.base import Mask
from specc.components.registry import slot
from specc.ir.node import Input

IDS = Input("document_ids", ("B", "S"), values="runs", about="equal where tokens are of one document")


class Documents(Mask):
    """A query sees what the `inner` mask shows of its own document.

    What an inner mask counts (blocks, a prefix, tokens that stay visible) it counts from the beginning of the row. Positions
    run on through a row, which changes nothing for schemes that know only distances (rope, alibi). Where they are looked up in
    a table, the caller of a causal model gives `position_ids` that begin again with each document.
    """

    positional: ClassVar[tuple[str, ...]] = ("inner",)
    kind: Literal["documents"] = "documents"
    inner: slot("mask")
    counts_anew: ClassVar[bool] = True

    @property
    def causal(self) -> bool:
        return self.inner.causal

    @property
    def reach(self) -> int | None:
        return self.inner.reach

    def inputs(self) -> tuple[Input, ...]:
        return (IDS, *self.inner.inputs())

    def pairs(self, tokens: int) -> int:
        """Of a row that holds one document."""
        return self.inner.pairs(tokens)

    def shrunk(self, plan) -> Documents:
        return self.replaced(inner=self.inner.shrunk(plan))

    def visible(self, g, query, key, frame):
        ids = frame.wanted(IDS)
        of_key = g.op("Unsqueeze", ids, g.constant([1, 2], "int64"))  # [B, 1, 1, S]
        of_query = g.op("Unsqueeze", g.op("Gather", ids, frame.query, axis=1), g.constant([1, 3], "int64"))  # [B, 1, T, 1]
        same = g.op("Equal", of_query, of_key)
        inside = self.inner.visible(g, query, key, frame)
        return same if inside is None else g.op("And", same, inside)
