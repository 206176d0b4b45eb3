"""Tokens that see all others and are seen by all, beside a mask for the rest (Beltagy et al., 2020, section 3.1, https://arxiv.org/abs/2004.05150)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from specc.components.mask.base import Mask
from specc.components.registry import slot
from specc.ir.node import Dims, Finding, Input

GLOBAL = Input("global_attention_mask", ("B", "S"), values="marks", about="1 for a token that sees all others and is seen by all")


class WithGlobal(Mask):
    """A query sees what the `inner` mask shows and every global key; a global query sees all keys.

    Which tokens are global the caller says in `global_attention_mask`. A global token is seen before it has come, and so
    nothing can be kept from call to call, whatever the inner mask is.
    """

    positional: ClassVar[tuple[str, ...]] = ("inner",)
    kind: Literal["with_global"] = "with_global"
    inner: slot("mask")

    def check(self, dims: Dims) -> Iterator[Finding]:
        if type(self.inner).visible is Mask.visible:
            yield Finding("inner", "TYP005", f"`{self.inner.kind}` shows every key to every query, and global tokens add nothing to that")

    def inputs(self) -> tuple[Input, ...]:
        return (GLOBAL, *self.inner.inputs())

    def pairs(self, tokens: int) -> int:
        """Of a row without global tokens."""
        return self.inner.pairs(tokens)

    def shrunk(self, plan) -> WithGlobal:
        return self.replaced(inner=self.inner.shrunk(plan))

    def visible(self, g, query, key, frame):
        marked = g.op("Cast", frame.wanted(GLOBAL), to="bool")
        of_key = g.op("Unsqueeze", marked, g.constant([1, 2], "int64"))  # [B, 1, 1, S]
        of_query = g.op("Unsqueeze", marked, g.constant([1, 3], "int64"))  # [B, 1, S, 1]
        return g.op("Or", g.op("Or", of_query, of_key), self.inner.visible(g, query, key, frame))
