"""Switch routing (Fedus et al., 2021, https://arxiv.org/abs/2101.03961, section 2.2), as in transformers' Switch Transformers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from specc.components.router.base import Chosen
from specc.ir.node import Dims, Finding, Parameter, structural


class Switch(Chosen):
    """Each token goes to the expert with the largest softmax, which is its weight, as long as that one has room.

    An expert takes the first `capacity` tokens of each sequence of a call that choose it; no expert sees the others. Padding
    takes room as well, and a cached step begins anew, as in the published model.
    """

    kind: Literal["switch"] = "switch"
    positional: ClassVar[tuple[str, ...]] = ("capacity",)
    by_longest: ClassVar[bool] = True
    by_sequence: ClassVar[bool] = True
    drops: ClassVar[bool] = True
    capacity: int = Field(gt=0)
    bias: bool = structural(False)

    def check_experts(self, experts: int, top_k: int) -> Iterator[Finding]:
        yield from super().check_experts(experts, top_k)
        if top_k != 1:
            yield Finding("kind", "SHP008", f"`switch` chooses one expert, and top_k is {top_k}", "write `top_k: 1`")

    def size(self, experts: int, dims: Dims) -> tuple[Parameter, ...]:
        bias = (Parameter("bias", (experts,), "zeros"),) if self.bias else ()
        return super().size(experts, dims) + bias

    def shrunk(self, plan) -> Switch:
        """So little room that tokens of a short text are left over."""
        return self.replaced(capacity=min(self.capacity, 2))

    def lower(self, g, x, experts: int, top_k: int, call=None):
        logits = g.op("Gemm", x, g.parameter("weight"), *([g.parameter("bias")] if self.bias else []), transB=1)  # [N, E]
        weight, chosen = g.best(g.op("Softmax", logits, axis=-1), 1)  # [N, 1]
        hits = g.op("Cast", g.op("Equal", chosen, g.constant(list(range(experts)), "int64")), to="int64")  # [N, E]
        so_far = g.op("CumSum", call.frame.sequences(hits), g.integer(1))  # [B, T, E]
        place = g.op("GatherElements", g.reshape(so_far, (-1, experts)), chosen, axis=-1)
        over = g.op("Greater", place, g.integer(self.capacity))
        return g.op("Where", over, g.number(0.0), weight), g.op("Where", over, g.integer(experts), chosen)
