"""An image as one vector beside texts as vectors (Radford et al., 2021, section 2.3, https://arxiv.org/abs/2103.00020)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.components.head.base import Head
from specc.components.registry import slot
from specc.ir.node import Dims, Parameter, linear, structural, under


class ImageEmbedding(Head):
    """The first token, normalised and mapped to `width`."""

    kind: Literal["image_embedding"] = "image_embedding"
    positional: ClassVar[tuple[str, ...]] = ("width",)
    outputs: ClassVar[tuple[str, ...]] = ("image_embeds", "last_hidden_state")
    width: int = Field(gt=0)
    norm: slot("norm", optional=True) = None
    bias: bool = structural(False)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        norm = () if self.norm is None else under("norm", self.norm.over(dims.dim))
        return norm + linear("project", dims.dim, self.width, self.bias)

    def shrunk(self, plan) -> ImageEmbedding:
        return self.replaced(width=plan.width(self.width))

    def flops(self, dims: Dims, context: float) -> int:
        return 0

    def flops_per_sequence(self, dims: Dims) -> int:
        return 2 * dims.dim * self.width

    def output_shape(self, name: str, dims: Dims) -> tuple[int | str, ...]:
        return ("batch", self.width) if name == "image_embeds" else ("batch", "sequence", dims.dim)

    def lower(self, g, x, call):
        hidden = call.frame.sequences(x)
        vector = call.frame.first(hidden)  # [B, C]
        if self.norm is not None:
            with g.scope("norm"):
                vector = self.norm.lower(g, vector)
        return {"image_embeds": g.linear(vector, "project"), "last_hidden_state": hidden}
