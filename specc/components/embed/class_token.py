"""A learned token in front of the patches (Dosovitskiy et al., 2020, section 3.1, https://arxiv.org/abs/2010.11929)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.components.embed.base import Part
from specc.ir.node import Dims, Parameter


class ClassToken(Part):
    """One learned vector, the same for every image, from which a head reads what the image is."""

    of_images: ClassVar[bool | None] = True
    alike: ClassVar[tuple[str, ...]] = ("distillation_token",)
    kind: Literal["class_token"] = "class_token"

    def tokens(self, dims: Dims) -> int | None:
        return 1

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return (Parameter("weight", (1, self.width)),)

    def lower(self, g, call, x=None):
        """-> [B, width]"""
        return call.frame.picture.repeated(g.parameter("weight"))
