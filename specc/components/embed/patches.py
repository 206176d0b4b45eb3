"""Patches of an image as tokens (Dosovitskiy et al., 2020, section 3.1, https://arxiv.org/abs/2010.11929)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from specc.components.embed.base import Part
from specc.ir.node import Dims, Finding, Input, Parameter, structural


class Patches(Part):
    """Each patch of the image through one linear map, row by row from the top; pixels that fill no patch are left out.

    mask_token adds a learned vector that stands for hidden patches in training (DINOv2, BEiT); a checkpoint may lack it.
    """

    stands_for: ClassVar[Literal["patch", "token", "position"]] = "patch"
    of_images: ClassVar[bool | None] = True
    native: ClassVar[dict[str, str]] = dict.fromkeys(("kind", "patch", "channels", "bias"), "Conv")
    kind: Literal["patches"] = "patches"
    patch: tuple[int, int] = structural()
    channels: int = Field(gt=0)
    bias: bool = structural(False)
    mask_token: bool = Field(default=False, json_schema_extra={"role": "training", "structural": True})

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        filled = super().complete(given, dims)
        if type(filled.get("patch")) is int:
            filled["patch"] = (filled["patch"],) * 2
        if dims.image is not None:
            filled = {"patch": dims.image.patch, "channels": dims.image.channels, **filled}
        return filled

    @classmethod
    def missing(cls, name: str, given: dict[str, Any], dims: Dims) -> Finding | None:
        return Finding(name, "VAL003", f"patches need `{name}`, and the model reads no images", "add `input = image(size: 224, channels: 3, patch: 16)`")

    def check(self, dims: Dims):
        if dims.image is not None and (self.patch, self.channels) != (dims.image.patch, dims.image.channels):
            yield Finding("patch", "IMG001", "the patches are others than those that `input` states")

    def tokens(self, dims: Dims) -> int | None:
        return dims.image.patches if dims.image else None

    def inputs(self) -> tuple[Input, ...]:
        return (Input("pixel_values", ("B", self.channels, "height", "width"), "float32", "pixels"),)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        found = (Parameter("weight", (self.width, self.channels, *self.patch)),)
        found += (Parameter("bias", (self.width,), "zeros"),) if self.bias else ()
        return found + ((Parameter("mask_token", (1, self.width), "zeros", "optional"),) if self.mask_token else ())

    def active(self, dims: Dims) -> int:
        return sum(p.size for p in self.parameters(dims) if p.role == "learned")

    def flops(self, dims: Dims, context: float) -> int:
        return 0

    def flops_per_sequence(self, dims: Dims) -> int:
        """For an image of the model's own size."""
        return 2 * self.width * self.channels * self.patch[0] * self.patch[1] * (dims.image.patches if dims.image else 0)

    def shrunk(self, plan) -> Patches:
        return self.replaced(width=plan.width(self.width), patch=plan.patch(self.patch))

    def lower(self, g, call, x=None):
        """-> [B * patches, width]"""
        made = g.op("Conv", call.frame.picture.pixels, g.parameter("weight"), *([g.parameter("bias")] if self.bias else []), strides=self.patch)
        made = g.op("Transpose", g.reshape(made, (0, self.width, -1)), perm=(0, 2, 1))  # [B, patches, C]
        return g.reshape(made, (-1, self.width))
