"""Bottleneck adapters (Houlsby et al., 2019, https://arxiv.org/abs/1902.00751)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from specc.components.adapter.base import Method, Site, Targets, paths
from specc.components.registry import slot
from specc.ir.node import Parameter, linear, structural


class Bottleneck(Method):
    """y becomes y + scale * up(activation(down(y))), y the result of a call of each sublayer that `after` names.

    That is before the block scales it, adds it to its input or normalises it. `after: [block]` is the result of the whole
    layer (Pfeiffer et al., 2020, https://arxiv.org/abs/2005.00247). parallel: down reads what the sublayer reads, not what it
    gives (He et al., 2021, https://arxiv.org/abs/2110.04366). up begins as zeros.
    """

    place: ClassVar[Literal["map", "call", "keys", "tokens"]] = "call"
    kind: Literal["bottleneck"] = "bottleneck"
    positional: ClassVar[tuple[str, ...]] = ("dim",)
    dim: int = Field(gt=0, le=65_536)
    activation: slot("activation")
    after: Targets = paths()
    parallel: bool = structural(False)
    scale: float = 1.0

    def aims(self):
        return ((target, False) for target in self.after)

    def held(self, site: Site) -> tuple[Parameter, ...]:
        down, below = linear("down", site.width, self.dim, True)
        up, above = linear("up", self.dim, site.width, True)
        return (down, below, Parameter(up.name, up.shape, "zeros"), above)

    def taken(self, site: Site) -> dict[str, tuple[tuple[int | str, ...], float]]:
        return {
            "down.weight": (("width", site.width), 0.0),
            "down.bias": (("width",), 0.0),
            "up.weight": ((site.width, "width"), 0.0),
            "up.bias": ((site.width,), 0.0),
        }

    def given(self, site: Site, own: dict[str, Any], weight, bias) -> dict[str, Any]:
        return own | {name: self.scale * own[name] for name in ("up.weight", "up.bias")}

    def lower(self, g, site: Site, number: int, x, y):
        """x [N, C] what the sublayer read, y [N, C] what it gave -> [N, C]"""
        inner = g.op("Gemm", x if self.parallel else y, g.given("down.weight"), g.given("down.bias"), transB=1)
        out = g.op("Gemm", self.activation.lower(g, inner), g.given("up.weight"), g.given("up.bias"), transB=1)
        return g.op("Add", y, out)
