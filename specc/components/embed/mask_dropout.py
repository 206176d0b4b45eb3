"""Mask tokens hidden, and what is left scaled up (Lin et al., 2023, https://github.com/facebookresearch/esm)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from specc.components.embed.base import Embedded
from specc.ir.node import Dims, Finding


class MaskDropout(Embedded):
    """Zero where the token is the mask token; the rest times (1 - share) / (1 - the row's own share of mask tokens).

    share: how many tokens training hides. A row's share is of its real tokens, so a stack that reads on step by step has none.
    """

    takes: ClassVar[int] = 1
    of_images: ClassVar[bool | None] = False
    whole_rows: ClassVar[bool] = True
    kind: Literal["mask_dropout"] = "mask_dropout"
    token: int = Field(ge=0)
    share: float = Field(ge=0, lt=1)

    def check(self, dims: Dims) -> Iterator[Finding]:
        if dims.vocab is not None and self.token >= dims.vocab:
            yield Finding("token", "VAL004", f"the vocabulary has {dims.vocab} tokens, and no token {self.token}")

    def shrunk(self, plan) -> MaskDropout:
        return self.replaced(token=min(self.token, plan.count(self.token + 1) - 1))

    def lower(self, g, call, x):
        """x [N, C] -> [N, C]"""
        hidden = g.op("Equal", call.frame.token_ids(), g.integer(self.token))  # [N]
        each = g.op("Cast", g.op("Reshape", hidden, call.frame.batch_and_new), to="float32")  # [B, T]
        real = g.op("Cast", call.frame.attention_mask, to="float32")
        axis = g.constant([1], "int64")
        share = g.op("Div", g.op("ReduceSum", each, axis, keepdims=1), g.op("ReduceSum", real, axis, keepdims=1))  # [B, 1]
        one = g.constant(1.0, "float32")
        factor = g.cast(g.op("Div", g.constant(1.0 - self.share, "float32"), g.op("Sub", one, share)))
        rows = g.reshape(g.op("Expand", factor, call.frame.batch_and_new), (-1, 1))  # [N, 1]
        column = g.op("Unsqueeze", hidden, axis)
        return g.op("Mul", g.op("Where", column, g.number(0.0), x), rows)
