"""The two-layer feed-forward network (Vaswani et al., 2017, section 3.3, https://arxiv.org/abs/1706.03762)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.components.registry import slot
from specc.ir.node import Component, Dims, Parameter, linear, structural, training, under


class MLP(Component):
    """down(activation(up(x))); in training what `down` reads is dropped at the rate `dropout`."""

    axis: ClassVar[str] = "ffn"
    holds_activation: ClassVar[bool] = True
    kind: Literal["mlp"] = "mlp"
    hidden: int = Field(gt=0)
    activation: slot("activation")
    bias: bool = structural(False)
    dropout: float = training(0.0, ge=0, lt=1)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return linear("up", dims.dim, self.hidden, self.bias) + linear("down", self.hidden, dims.dim, self.bias) + under("activation", self.activation.parameters(dims))

    def homogeneous(self) -> bool:
        return not self.bias and self.activation.homogeneous()

    def shrunk(self, plan) -> MLP:
        return self.replaced(hidden=plan.width(self.hidden))

    def lower(self, g, x, call=None):
        """x [N, C] -> [N, C]"""
        return g.linear(self.activation.lower(g, g.linear(x, "up")), "down")
