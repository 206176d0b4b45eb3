"""Segment embedding: which sentence a token belongs to (Devlin et al., 2018, section 3, https://arxiv.org/abs/1810.04805)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.components.embed.base import Part
from specc.ir.node import Dims, Input, Parameter


class Segments(Part):
    """The row of the table that the token's segment names."""

    native: ClassVar[dict[str, str]] = dict.fromkeys(("kind", "count"), "Gather")
    of_images: ClassVar[bool | None] = False
    kind: Literal["segments"] = "segments"
    positional: ClassVar[tuple[str, ...]] = ("count",)
    count: int = Field(gt=0)

    def inputs(self) -> tuple[Input, ...]:
        return (Input("token_type_ids", ("B", "T")),)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return (Parameter("weight", (self.count, self.width)),)

    def lower(self, g, call, x=None):
        """-> [N, width]"""
        return g.op("Gather", g.parameter("weight"), g.reshape(call.frame.given("token_type_ids"), (-1,)))
