"""Attention whose global tokens have linear maps of their own (Beltagy et al., 2020, section 3.1, https://arxiv.org/abs/2004.05150)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from specc.components.attention.base import filled
from specc.components.mask.with_global import GLOBAL
from specc.ir.node import Component, Dims, Finding, Input, Parameter, State, linear, structural

OWN, GLOBALS = ("q", "k", "v"), ("global_q", "global_k", "global_v")


class GlobalLocalAttention(Component):
    """Two attentions over the same tokens: one for the tokens that `global_attention_mask` marks, the other for all the rest.

    A query of the rest reads every key, global ones too, through q, k and v; a global query reads every key through global_q,
    global_k and global_v. What either sees the mask says. bias: true, false, or the roles that have one: q, k and v stand for
    their global counterparts too. scale defaults to head_dim^-0.5.
    """

    axis: ClassVar[str] = "attention"
    takes_score: ClassVar[bool] = False
    whole_rows: ClassVar[bool] = True
    native: ClassVar[dict[str, str]] = {"heads": "Attention", "scale": "Attention"}
    kind: Literal["global_local"] = "global_local"
    heads: int = Field(gt=0)
    head_dim: int = Field(gt=0)
    bias: tuple[Literal["q", "k", "v", "o"], ...] = structural(())
    scale: float

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        return filled(given, dims, (*OWN, "o"), grouped=False)

    def check_across(self) -> Iterator[Finding]:
        yield Finding("kind", "CAP001", "global tokens that read an encoder's output cannot be compiled yet")

    @property
    def q_width(self) -> int:
        return self.heads * self.head_dim

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        found: tuple[Parameter, ...] = ()
        for role in (*OWN, *GLOBALS):
            found += linear(role, dims.dim, self.q_width, role.removeprefix("global_") in self.bias)
        return found + linear("o", self.q_width, dims.dim, "o" in self.bias)

    def state(self, dims: Dims) -> tuple[State, ...]:
        """Of both attentions; a causal stack has no place for it."""
        names = ("key", "value", "global_key", "global_value")
        return tuple(State(name, ("B", self.heads, "S", self.head_dim)) for name in names)

    def inputs(self) -> tuple[Input, ...]:
        return (GLOBAL,)

    def flops(self, dims: Dims, context: float) -> int:
        """Both attentions are computed for every token."""
        return super().flops(dims, context) + round(8 * self.q_width * context)

    def shrunk(self, plan) -> GlobalLocalAttention:
        heads, _ = plan.heads(self.heads, self.heads)
        head_dim = plan.head_width(self.head_dim)
        return self.replaced(heads=heads, head_dim=head_dim, scale=self.scale * (self.head_dim / head_dim) ** 0.5)

    def lower(self, g, x, call):
        """x [N, C] -> [N, C]"""
        of_all, of_globals = (self._attended(g, x, call, roles) for roles in (OWN, GLOBALS))  # [B, T, H*D]
        marked = g.op("Cast", call.frame.wanted(GLOBAL), to="bool")
        marked = g.op("Unsqueeze", marked, g.constant([2], "int64"))  # [B, T, 1]
        out = g.op("Where", marked, of_globals, of_all)
        return g.linear(g.reshape(out, (-1, self.q_width)), "o")

    def _attended(self, g, x, call, roles: tuple[str, ...]):
        """x [N, C] through three linear maps -> [B, T, H*D]"""
        q, k, v = (call.frame.sequences(part) for part in g.linears(x, roles))
        q, k = call.position.rotate(g, q, k, self.heads, self.heads, self.head_dim, call.tables)
        return call.attend(q, k, v, call.mask, q_num_heads=self.heads, kv_num_heads=self.heads, scale=self.scale)
