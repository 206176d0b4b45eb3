"""The gated feed-forward network: GLU variants (Shazeer, 2020, https://arxiv.org/abs/2002.05202)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.components.registry import slot
from specc.ir.node import Component, Dims, Parameter, linear, structural, training, under


class Gated(Component):
    """down(activation(gate(x)) * (up_offset + up(x))); silu makes it SwiGLU, gelu GEGLU.

    clamp c bounds gate(x) from above by c and up(x) to [-c, c] (gpt-oss). In training what `down` reads is dropped at the rate `dropout`.
    """

    axis: ClassVar[str] = "ffn"
    holds_activation: ClassVar[bool] = True
    kind: Literal["gated"] = "gated"
    hidden: int = Field(gt=0)
    activation: slot("activation")
    bias: bool = structural(False)
    clamp: float | None = Field(default=None, gt=0)
    up_offset: float = 0.0
    dropout: float = training(0.0, ge=0, lt=1)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        into = linear("gate", dims.dim, self.hidden, self.bias) + linear("up", dims.dim, self.hidden, self.bias)
        return into + linear("down", self.hidden, dims.dim, self.bias) + under("activation", self.activation.parameters(dims))

    def shrunk(self, plan) -> Gated:
        return self.replaced(hidden=plan.width(self.hidden))

    def lower(self, g, x, call=None):
        """x [N, C] -> [N, C]"""
        gate, up = g.linears(x, ("gate", "up"))
        if self.clamp is not None:
            most = g.number(self.clamp)
            gate, up = g.op("Min", gate, most), g.op("Clip", up, g.number(-self.clamp), most)
        if self.up_offset:
            up = g.op("Add", up, g.number(self.up_offset))
        return g.linear(g.op("Mul", self.activation.lower(g, gate), up), "down")
