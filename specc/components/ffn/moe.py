"""Mixture of experts (Shazeer et al., 2017, https://arxiv.org/abs/1701.06538; Jiang et al., 2024, https://arxiv.org/abs/2401.04088)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from specc.components.registry import slot
from specc.ir.node import Component, Dims, Finding, Parameter, linear, structural, under


class MixtureOfExperts(Component):
    """Each token passes through the top_k of the experts that the router chooses, their outputs summed by its weights.

    A shared expert sees every token (DeepSeek-MoE, https://arxiv.org/abs/2401.06066); with shared_gate its output is
    multiplied by sigmoid(x w) (Qwen 2 MoE).
    """

    axis: ClassVar[str] = "ffn"
    kind: Literal["moe"] = "moe"
    experts: int = Field(gt=0, le=4096)
    top_k: int = Field(gt=0)
    expert: slot("ffn")
    router: slot("router")
    shared: slot("ffn", optional=True) = None
    shared_gate: bool = structural(False)

    def check(self, dims: Dims) -> Iterator[Finding]:
        if isinstance(self.expert, MixtureOfExperts):
            yield Finding("expert", "SHP008", "an expert is not a mixture of experts itself")
        if self.top_k > self.experts:
            yield Finding("top_k", "SHP008", f"{self.experts} experts cannot offer {self.top_k}")
        if self.shared_gate and self.shared is None:
            yield Finding("shared_gate", "TYP005", "`shared_gate` is set, and there is no shared expert")
        yield from (Finding("router", f.code, f.message, f.help) for f in self.router.check_experts(self.experts, self.top_k))

    def inert(self, beside) -> tuple[str, ...]:
        return tuple(f"router.{name}" for name in self.router.inert(self))

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        found = under("router", self.router.size(self.experts, dims))
        expert = self.expert.parameters(dims)
        for number in range(self.experts):
            found += under(f"experts.{number}", expert)
        if self.shared is not None:
            found += under("shared", self.shared.parameters(dims))
        return found + (linear("shared_gate", dims.dim, 1, bias=False) if self.shared_gate else ())

    def active(self, dims: Dims) -> int:
        """Learned values that take part in the computation of one token."""
        total = sum(p.size for p in self.parameters(dims) if p.role != "fixed")
        return total - (self.experts - self.top_k) * sum(p.size for p in self.expert.parameters(dims))

    def shrunk(self, plan) -> MixtureOfExperts:
        """As many groups of experts, each with fewer."""
        shared = None if self.shared is None else self.shared.shrunk(plan)
        fewer = self.router.fewer(self.experts, self.top_k)
        return self.replaced(experts=fewer, expert=self.expert.shrunk(plan), router=self.router.shrunk(plan), shared=shared)

    def flops(self, dims: Dims, context: float) -> int:
        total = 2 * self.experts * dims.dim + self.top_k * self.expert.flops(dims, context)
        if self.shared is not None:
            total += self.shared.flops(dims, context) + (2 * dims.dim if self.shared_gate else 0)
        return total

    def lower(self, g, x, call=None):
        """x [N, C] -> [N, C]. Tokens are sorted by expert, and each expert sees its own rows only."""
        with g.scope("router"):
            weights, chosen = self.router.lower(g, x, self.experts, self.top_k, call)
        some = g.op("Greater", g.op("Gather", g.op("Shape", x), g.integer(0)), g.integer(0))
        # the branch is always taken: ONNX Runtime 1.31 plans a graph's memory in quadratic time, and an If is a graph of its own
        routed = self._by_expert if self.router.experts_choose else self._by_token
        out = g.either(some, lambda: routed(g, x, weights, chosen), lambda: g.op("Identity", x))
        if self.shared is None:
            return out
        with g.scope("shared"):
            common = self.shared.lower(g, x)
        if self.shared_gate:
            common = g.op("Mul", common, g.sigmoid(g.linear(x, "shared_gate")))
        return g.op("Add", out, common)

    def _by_expert(self, g, x, weights, tokens):
        """weights and tokens [E, k]: what each expert has chosen."""
        numbers = g.reshape(tokens, (-1,))
        rows = g.op("Gather", x, numbers)  # [E * k, C]
        parts = g.ops("Split", rows, outputs=self.experts, axis=0, num_outputs=self.experts) if self.experts > 1 else (rows,)
        joined = g.op("Mul", self._made(g, parts), g.reshape(weights, (-1, 1)))
        nothing = g.cast(g.op("ConstantOfShape", g.op("Shape", x)))
        places = g.op("Expand", g.reshape(numbers, (-1, 1)), g.op("Shape", joined))
        # not ScatterND: ONNX Runtime 1.32 adds to one row from several threads at once, and loses some
        return g.op("ScatterElements", nothing, places, joined, axis=0, reduction="add")

    def _made(self, g, parts):
        """What each expert makes of its own rows, joined."""
        made = []
        for number, part in enumerate(parts):
            with g.scope("experts", str(number)):
                made.append(self.expert.lower(g, part))
        return g.op("Concat", *made, axis=0)

    def _by_token(self, g, x, weights, chosen):
        """weights and chosen [N, k]: the experts that each token has chosen."""
        k = self.top_k
        flat = g.reshape(chosen, (-1,))  # [N * k]
        count = g.op("Shape", flat)
        _, order = g.ops("TopK", flat, count, outputs=2, largest=0)
        rows = g.op("Gather", x, g.op("Div", order, g.integer(k)))  # [N * k, C], expert by expert
        each = g.op("Gather", g.reshape(weights, (-1, 1)), order)
        if self.router.weighs_input:
            rows = g.op("Mul", rows, each)
        places = self.experts + self.router.drops
        hits = g.op("Equal", g.reshape(flat, (-1, 1)), g.constant(list(range(places)), "int64"))
        sizes = g.op("ReduceSum", g.op("Cast", hits, to="int64"), g.constant([0], "int64"), keepdims=0)  # [E]
        parts = g.ops("Split", rows, sizes, outputs=places, axis=0) if places > 1 else (rows,)
        joined = self._made(g, parts[: self.experts])
        if self.router.drops:  # what no expert sees comes last, and its weight is zero
            joined = g.op("Concat", joined, parts[-1], axis=0)
        if not self.router.weighs_input:
            joined = g.op("Mul", joined, each)
        _, back = g.ops("TopK", order, count, outputs=2, largest=0)
        ours = g.reshape(g.op("Gather", joined, back), (-1, k, self._width(g)))
        return g.op("ReduceSum", ours, g.constant([1], "int64"), keepdims=0)

    def _width(self, g) -> int:
        return g.weights.shape(f"{g.path}.router.weight")[1]
