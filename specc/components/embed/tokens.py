"""Token embedding (Vaswani et al., 2017, section 3.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from specc.components.embed.base import Part
from specc.ir.node import Dims, Finding, Input, Parameter, runtime


class Tokens(Part):
    """The row of the table that the token id names, times `scale`.

    round_scale: in a type of 16 bits the scale is rounded to that type first (Gemma), else only the product is.
    """

    native: ClassVar[dict[str, str]] = dict.fromkeys(("kind", "vocab", "width"), "Gather")
    of_images: ClassVar[bool | None] = False
    kind: Literal["tokens"] = "tokens"
    vocab: int
    scale: float = 1.0
    round_scale: bool = runtime(False)

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        filled = super().complete(given, dims)
        if dims.vocab is not None:
            filled.setdefault("vocab", dims.vocab)
        return filled

    @classmethod
    def missing(cls, name: str, given: dict[str, Any], dims: Dims) -> Finding | None:
        if name == "vocab":
            return Finding("vocab", "VAL003", "tokens need `vocab`, and the model does not state it", "add `vocab = ...` to the model")
        return None

    def check(self, dims: Dims) -> Iterator[Finding]:
        if self.scale == 0:
            yield Finding("scale", "VAL004", "a scale of 0 makes every embedding zero")
        if self.scale == 1 and self.round_scale:
            yield Finding("round_scale", "TYP005", "`round_scale` is set, and there is no `scale` to be rounded")

    def inputs(self) -> tuple[Input, ...]:
        return (Input("input_ids", ("B", "T")),)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return (Parameter("weight", (self.vocab, self.width), slot="table"),)

    def shrunk(self, plan) -> Tokens:
        return self.replaced(width=plan.width(self.width), vocab=plan.count(self.vocab), scale=plan.root(self.scale))

    def lower(self, g, call, x=None):
        """-> [N, width]"""
        rows = g.rows("weight", call.frame.token_ids(), call.frame)
        if self.scale == 1:
            return rows
        if self.round_scale or g.compute == "float32":
            return g.op("Mul", rows, g.number(self.scale))
        wide = g.op("Mul", g.op("Cast", rows, to="float32"), g.constant(self.scale, "float32"))
        return g.cast(wide)
