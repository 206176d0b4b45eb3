"""Differential attention (Ye et al., 2024, https://arxiv.org/abs/2410.05258)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from specc.components.attention.base import filled
from specc.components.registry import slot
from specc.ir.node import Component, Dims, Finding, Parameter, State, linear, structural, under

LAMBDAS = ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2")


class DifferentialAttention(Component):
    """Two attentions over the same values, of which the second is taken from the first: (softmax(q1 k1) - lambda softmax(q2 k2)) v.

    The first half of the heads pairs with the second half, head by head; the values of a pair are as wide as both its heads.
    lambda is exp(lambda_q1 . lambda_k1) - exp(lambda_q2 . lambda_k2) + lambda_init, learned once for all heads. head_norm then
    normalises each pair, and 1 - lambda_init scales it. bias and scale are those of attention.
    """

    axis: ClassVar[str] = "attention"
    takes_score: ClassVar[bool] = False
    native: ClassVar[dict[str, str]] = {"scale": "Attention"}
    kind: Literal["differential"] = "differential"
    heads: int = Field(gt=0)
    kv_heads: int = Field(gt=0)
    head_dim: int = Field(gt=0)
    bias: tuple[Literal["q", "k", "v", "o"], ...] = structural(())
    scale: float
    lambda_init: float
    head_norm: slot("norm")

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        return filled(given, dims, ("q", "k", "v", "o"))

    def check(self, dims: Dims) -> Iterator[Finding]:
        if self.heads % self.kv_heads:
            yield Finding("kv_heads", "SHP003", f"{self.heads} query heads cannot share {self.kv_heads} key-value heads evenly")
        elif self.kv_heads % 2:
            yield Finding("kv_heads", "SHP003", f"key-value heads stand in pairs, and {self.kv_heads} is odd")

    def check_across(self) -> Iterator[Finding]:
        yield Finding("kind", "CAP001", "differential attention to an encoder cannot be compiled yet")

    @property
    def q_width(self) -> int:
        return self.heads * self.head_dim

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        found: tuple[Parameter, ...] = ()
        for role, width in (("q", self.q_width), ("k", self.kv_heads * self.head_dim), ("v", self.kv_heads * self.head_dim)):
            found += linear(role, dims.dim, width, role in self.bias)
        found += linear("o", self.q_width, dims.dim, "o" in self.bias)
        found += tuple(Parameter(name, (self.head_dim,)) for name in LAMBDAS)
        return found + under("head_norm", self.head_norm.over(2 * self.head_dim))

    def state(self, dims: Dims) -> tuple[State, ...]:
        return tuple(State(name, ("B", self.kv_heads, "S", self.head_dim)) for name in ("key", "value"))

    def flops(self, dims: Dims, context: float) -> int:
        return super().flops(dims, context) + round(6 * self.q_width * context)

    def shrunk(self, plan) -> DifferentialAttention:
        heads, kv_heads = plan.heads(self.heads // 2, self.kv_heads // 2)
        head_dim = plan.head_width(self.head_dim)
        scale = self.scale * (self.head_dim / head_dim) ** 0.5
        return self.replaced(heads=2 * heads, kv_heads=2 * kv_heads, head_dim=head_dim, scale=scale)

    def lower(self, g, x, call):
        """x [N, C] -> [N, C]"""
        q, k, v = (call.frame.sequences(part) for part in g.linears(x, ("q", "k", "v")))  # [B, T, H*D], [B, T, K*D]
        q, k = call.position.rotate(g, q, k, self.heads, self.kv_heads, self.head_dim, call.tables)
        q, k, v = self._heads(g, q, self.heads), self._heads(g, k, self.kv_heads), self._heads(g, v, self.kv_heads)
        if call.past is not None:
            k, v = (g.op("Concat", call.past[name], part, axis=2) for name, part in (("key", k), ("value", v)))
            call.present |= {"key": k, "value": v}
            call.past = None
        out = call.attend(q, k, self._wide(g, v), call.mask, scale=self.scale)  # [B, H, T, 2*D]
        first, second = self._halves(g, out, self.heads)
        pairs = g.op("Sub", first, g.op("Mul", second, self._lambda(g)))  # [B, H/2, T, 2*D]
        with g.scope("head_norm"):
            pairs = self.head_norm.lower(g, pairs)
        pairs = g.op("Mul", pairs, g.number(1 - self.lambda_init))
        return g.linear(g.reshape(g.op("Transpose", pairs, perm=(0, 2, 1, 3)), (-1, self.q_width)), "o")

    def _heads(self, g, x, heads: int):
        """x [B, T, heads*D] -> [B, heads, T, D]"""
        return g.op("Transpose", g.reshape(x, (0, 0, heads, self.head_dim)), perm=(0, 2, 1, 3))

    def _halves(self, g, x, heads: int):
        """x [B, heads, ...] -> the first half of the heads, and the second"""
        return g.ops("Split", x, g.constant([heads // 2, heads // 2], "int64"), outputs=2, axis=1)

    def _wide(self, g, v):
        """v [B, K, S, D] -> [B, K, S, 2*D]: both heads of a pair have the values of both"""
        pairs = g.op("Concat", *self._halves(g, v, self.kv_heads), axis=-1)
        return g.op("Concat", pairs, pairs, axis=1)

    def _lambda(self, g):
        """-> [1]"""
        one, other = (
            g.op("Exp", g.op("ReduceSum", g.op("Mul", g.parameter(q), g.parameter(k)), keepdims=1)) for q, k in (LAMBDAS[:2], LAMBDAS[2:])
        )
        return g.op("Add", g.op("Sub", one, other), g.number(self.lambda_init))
