"""xIELU: the integral of an exponential linear unit, with learned slopes (Huang and Schlag, 2024, https://arxiv.org/abs/2411.13010)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.ir.node import Component, Dims, Parameter


class XIELU(Component):
    """a_p x^2 + beta x where x > 0, else a_n (exp(min(x, eps)) - 1 - x) + beta x.

    a_p = softplus(alpha_p) and a_n = beta + softplus(alpha_n) are learned, one of each for the sublayer.
    """

    axis: ClassVar[str] = "activation"
    kind: Literal["xielu"] = "xielu"
    beta: float = Field(default=0.5, gt=0)
    eps: float = Field(default=-1e-6, le=0)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return Parameter("alpha_p", (1,), "zeros"), Parameter("alpha_n", (1,), "zeros")

    def lower(self, g, x):
        with g.scope("activation"):
            return self._bent(g, x, g.number(self.beta))

    def _bent(self, g, x, beta):
        rising, falling = g.op("Softplus", g.parameter("alpha_p")), g.op("Add", beta, g.op("Softplus", g.parameter("alpha_n")))
        right = g.op("Mul", rising, g.op("Mul", x, x))
        grown = g.op("Sub", g.op("Exp", g.op("Min", x, g.number(self.eps))), g.number(1.0))
        left = g.op("Mul", falling, g.op("Sub", grown, x))
        bent = g.op("Where", g.op("Greater", x, g.number(0.0)), right, left)
        return g.op("Add", bent, g.op("Mul", beta, x))
