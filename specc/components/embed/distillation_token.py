"""A second learned token, taught by another model (Touvron et al., 2020, section 4, https://arxiv.org/abs/2012.12877)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.components.embed.base import Part
from specc.ir.node import Dims, Parameter


class DistillationToken(Part):
    """One learned vector, the same for every image, beside the class token."""

    of_images: ClassVar[bool | None] = True
    alike: ClassVar[tuple[str, ...]] = ("class_token",)
    kind: Literal["distillation_token"] = "distillation_token"

    def tokens(self, dims: Dims) -> int | None:
        return 1

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return (Parameter("weight", (1, self.width)),)

    def lower(self, g, call, x=None):
        """-> [B, width]"""
        return call.frame.picture.repeated(g.parameter("weight"))
