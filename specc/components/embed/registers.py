"""Register tokens (Darcet et al., 2023, https://arxiv.org/abs/2309.16588)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.components.embed.base import Part
from specc.ir.node import Dims, Parameter


class Registers(Part):
    """`count` learned vectors, the same for every image: room for what belongs to no patch."""

    of_images: ClassVar[bool | None] = True
    positional: ClassVar[tuple[str, ...]] = ("count",)
    kind: Literal["registers"] = "registers"
    count: int = Field(gt=0)

    def tokens(self, dims: Dims) -> int | None:
        return self.count

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return (Parameter("weight", (self.count, self.width)),)

    def lower(self, g, call, x=None):
        """-> [B * count, width]"""
        return call.frame.picture.repeated(g.parameter("weight"))
