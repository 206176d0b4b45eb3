"""LayerScale (Touvron et al., 2021, section 3, https://arxiv.org/abs/2103.17239)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.ir.node import Component, Dims, Parameter, training


class LayerScale(Component):
    """Each channel times a learned number, which training begins at `init`."""

    axis: ClassVar[str] = "gain"
    kind: Literal["layer_scale"] = "layer_scale"
    init: float = training(1.0)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return (Parameter("weight", (dims.dim,), "ones"),)

    def lower(self, g, x, call=None):
        return g.op("Mul", x, g.parameter("weight"))
