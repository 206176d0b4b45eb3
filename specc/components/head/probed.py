"""One vector that attention reads out of all tokens (Zhai et al., 2021, appendix A, https://arxiv.org/abs/2106.04560; Lee et al., 2018)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from specc.components.head.base import Head
from specc.components.registry import slot
from specc.ir.node import Dims, Finding, Parameter, linear, structural, under


class Probed(Head):
    """h = o(attention of a learned probe over the tokens), then h + down(activation(up(norm(h)))), as SigLIP pools (MAP).

    The probe is the only query; keys and values are linear maps of the tokens; the scores are scaled by the root of a head's width.
    """

    kind: Literal["probed"] = "probed"
    outputs: ClassVar[tuple[str, ...]] = ("last_hidden_state", "pooler_output")
    heads: int = Field(gt=0)
    hidden: int = Field(gt=0)
    activation: slot("activation")
    norm: slot("norm")
    bias: bool = structural(True)

    def check(self, dims: Dims) -> Iterator[Finding]:
        if dims.dim % self.heads:
            yield Finding("heads", "SHP001", f"width {dims.dim} is not a multiple of {self.heads} heads")
        if dims.image is None:
            yield Finding("kind", "IMG002", "a probe reads the tokens of an image, and this model reads no images")

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        found = (Parameter("probe", (1, dims.dim)),)
        for name in ("q", "k", "v", "o"):
            found += linear(name, dims.dim, dims.dim, self.bias)
        found += under("norm", self.norm.over(dims.dim))
        return found + linear("up", dims.dim, self.hidden, self.bias) + linear("down", self.hidden, dims.dim, self.bias)

    def shrunk(self, plan) -> Probed:
        heads, _ = plan.heads(self.heads, self.heads)
        return self.replaced(heads=heads, hidden=plan.width(self.hidden))

    def flops(self, dims: Dims, context: float) -> int:
        """Of one token: its key and value, and what the probe reads of it."""
        return 4 * dims.dim * dims.dim + 4 * dims.dim

    def flops_per_sequence(self, dims: Dims) -> int:
        return 4 * dims.dim * (dims.dim + self.hidden)

    def output_shape(self, name: str, dims: Dims) -> tuple[int | str, ...]:
        return ("batch", dims.dim) if name == "pooler_output" else ("batch", "sequence", dims.dim)

    def lower(self, g, x, call):
        frame, width = call.frame, call.frame.dims.dim
        q = g.linear(g.parameter("probe"), "q")  # [1, C]
        q = g.op("Expand", q, frame.picture.sizes(frame.picture.batch, 1, 1))  # [B, 1, C]
        k, v = (frame.sequences(part) for part in g.linears(x, ("k", "v")))  # [B, T, C]
        h = g.op("Attention", q, k, v, q_num_heads=self.heads, kv_num_heads=self.heads, scale=(width // self.heads) ** -0.5)
        h = g.linear(g.reshape(h, (-1, width)), "o")  # [B, C]
        with g.scope("norm"):
            normed = self.norm.lower(g, h)
        h = g.op("Add", h, g.linear(self.activation.lower(g, g.linear(normed, "up")), "down"))
        return {"last_hidden_state": frame.sequences(x), "pooler_output": h}
