"""Learned absolute positions (Gehring et al., 2017; Devlin et al., 2018, https://arxiv.org/abs/1810.04805)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from specc.components.embed.base import Part
from specc.ir.node import Dims, Finding, Parameter


class LearnedPosition(Part):
    """The row of the table that the token's position names, `offset` rows further down (2 in OPT, BART and RoBERTa)."""

    native: ClassVar[dict[str, str]] = dict.fromkeys(("kind", "length"), "Gather")
    kind: Literal["learned_position"] = "learned_position"
    length: int = Field(gt=0)
    offset: int = Field(default=0, ge=0)

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        filled = super().complete(given, dims)
        if dims.context is not None:
            filled.setdefault("length", dims.context)
        return filled

    @classmethod
    def missing(cls, name: str, given: dict[str, Any], dims: Dims) -> Finding | None:
        if name == "length":
            message = "a learned position table needs its length, and the model states no `context`"
            return Finding("length", "VAL003", message, "add `context = ...` to the model, or `length:` here")
        return None

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return (Parameter("weight", (self.length + self.offset, self.width)),)

    def shrunk(self, plan) -> LearnedPosition:
        return self.replaced(width=plan.width(self.width), length=plan.length(self.length))

    def lower(self, g, call, x=None):
        """-> [N, width]"""
        rows = call.frame.flat_positions()
        if self.offset:
            rows = g.op("Add", rows, g.integer(self.offset))
        return g.op("Gather", g.parameter("weight"), rows)
