"""Images cut into patches (Dosovitskiy et al., 2020, section 3.1, https://arxiv.org/abs/2010.11929)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from specc.ir.node import Component, Dims, Finding, Picture


class Image(Component):
    """Pixels [B, channels, H, W] in patches. `size` and `patch` are one number of pixels, or those down and those across."""

    axis: ClassVar[str] = "input"
    positional: ClassVar[tuple[str, ...]] = ("size",)
    kind: Literal["image"] = "image"
    size: tuple[int, int]
    channels: int = Field(gt=0)
    patch: tuple[int, int]

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        square = {name: (given[name],) * 2 for name in ("size", "patch") if type(given.get(name)) is int}
        return {**given, **square}

    def check(self, dims: Dims) -> Iterator[Finding]:
        for size, patch in zip(self.size, self.patch, strict=True):
            if patch < 1 or size < patch:
                yield Finding("patch", "IMG001", f"an image of {size} pixels holds no patch of {patch}")
                return

    def picture(self) -> Picture:
        """The sizes that the parts of the embedding ask for."""
        return Picture(size=self.size, channels=self.channels, patch=self.patch)
