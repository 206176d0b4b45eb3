"""Multi-head latent attention (DeepSeek-AI, 2024, https://arxiv.org/abs/2405.04434, section 2.1)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from specc.components.registry import slot
from specc.ir.node import Component, Dims, Parameter, State, linear, runtime, structural, under


class LatentAttention(Component):
    """Queries, keys and values come out of narrow latent vectors; positions ride on channels of their own.

    Each head's query and key hold nope_dim channels without position and rope_dim channels that the position scheme turns;
    the turned part of the key is one for all heads. q_rank is the width of the query's latent vector (none: queries come
    straight from x), kv_rank that of the keys' and values'. latent_norm normalises both. bias: on the maps into the latent
    vectors and out of the heads. scale defaults to (nope_dim + rope_dim)^-0.5; a yarn with mscale_all_dim multiplies it.
    cache says what is kept from call to call: every head's keys and values, or the latent vectors with the turned key, out of
    which each call makes the others again (its work is not counted in flops).
    """

    axis: ClassVar[str] = "attention"
    shows_weights: ClassVar[bool] = True
    takes_score: ClassVar[bool] = False
    native: ClassVar[dict[str, str]] = dict.fromkeys(("kind", "heads", "scale"), "Attention")
    kind: Literal["mla"] = "mla"
    heads: int = Field(gt=0)
    q_rank: int | None = Field(default=None, gt=0)
    kv_rank: int = Field(gt=0)
    nope_dim: int = Field(gt=0)
    rope_dim: int = Field(gt=0)
    value_dim: int = Field(gt=0)
    latent_norm: slot("norm")
    bias: bool = structural(False)
    scale: float
    cache: Literal["heads", "latent"] = runtime("heads")

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        nope, rope = given.get("nope_dim"), given.get("rope_dim")
        if not isinstance(nope, int) or not isinstance(rope, int) or nope + rope < 1:
            return given
        return {"scale": (nope + rope) ** -0.5, **given}

    @property
    def head_dim(self) -> int:
        """The channels that the position scheme turns."""
        return self.rope_dim

    @property
    def key_dim(self) -> int:
        return self.nope_dim + self.rope_dim

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        q_width = self.heads * self.key_dim
        if self.q_rank is None:
            found = linear("q", dims.dim, q_width, False)
        else:
            found = linear("q_down", dims.dim, self.q_rank, self.bias) + under("q_norm", self.latent_norm.over(self.q_rank))
            found += linear("q_up", self.q_rank, q_width, False)
        found += linear("kv_down", dims.dim, self.kv_rank + self.rope_dim, self.bias) + under("kv_norm", self.latent_norm.over(self.kv_rank))
        found += linear("kv_up", self.kv_rank, self.heads * (self.nope_dim + self.value_dim), False)
        return found + linear("o", self.heads * self.value_dim, dims.dim, self.bias)

    def state(self, dims: Dims) -> tuple[State, ...]:
        if self.cache == "latent":
            return State("key", ("B", 1, "S", self.rope_dim)), State("latent", ("B", 1, "S", self.kv_rank))
        return State("key", ("B", self.heads, "S", self.key_dim)), State("value", ("B", self.heads, "S", self.value_dim))

    def flops(self, dims: Dims, context: float) -> int:
        return super().flops(dims, context) + round(2 * self.heads * (self.key_dim + self.value_dim) * context)

    def shrunk(self, plan) -> LatentAttention:
        heads, _ = plan.heads(self.heads, self.heads)
        nope, rope, value = (plan.head_width(width) for width in (self.nope_dim, self.rope_dim, self.value_dim))
        q_rank = None if self.q_rank is None else plan.width(self.q_rank)
        scale = self.scale * (self.key_dim / (nope + rope)) ** 0.5
        return self.replaced(
            heads=heads, q_rank=q_rank, kv_rank=plan.width(self.kv_rank), nope_dim=nope, rope_dim=rope, value_dim=value, scale=scale
        )

    def lower(self, g, x, call):
        """x [N, C] -> [N, C]"""
        heads = self.heads
        q = g.reshape(self._queries(g, x), (-1, heads, self.key_dim))  # [N, H, nope + rope]
        q_plain, q_turn = g.ops("Split", q, g.constant([self.nope_dim, self.rope_dim], "int64"), outputs=2, axis=-1)
        latent, k_turn = g.ops("Split", g.linear(x, "kv_down"), g.constant([self.kv_rank, self.rope_dim], "int64"), outputs=2, axis=-1)
        with g.scope("kv_norm"):
            latent = self.latent_norm.lower(g, latent)
        q_turn = call.frame.sequences(g.reshape(q_turn, (-1, heads * self.rope_dim)))
        q_turn, k_turn = call.position.rotate(g, q_turn, call.frame.sequences(k_turn), heads, 1, self.rope_dim, call.tables)
        q_turn = g.reshape(q_turn, (-1, heads, self.rope_dim))
        rows = call.frame.sequences
        if self.cache == "latent" and call.past is not None:
            latent, k_turn = self._kept(g, call, latent, k_turn)  # [B * S, L], [B, S, R]
            rows, call.past = call.frame.all_sequences, None
        kv = g.reshape(g.linear(latent, "kv_up"), (-1, heads, self.nope_dim + self.value_dim))
        k_plain, v = g.ops("Split", kv, g.constant([self.nope_dim, self.value_dim], "int64"), outputs=2, axis=-1)
        k_turn = g.op("Expand", g.reshape(k_turn, (-1, 1, self.rope_dim)), g.constant([1, heads, 1], "int64"))  # one key for all heads
        q = call.frame.sequences(self._joined(g, q_plain, q_turn))
        k = rows(self._joined(g, k_plain, k_turn))
        v = rows(g.reshape(v, (-1, heads * self.value_dim)))
        options = {"q_num_heads": heads, "kv_num_heads": heads, "scale": self.scale * call.position.score_factor()}
        out = call.attend(q, k, v, call.mask, **options)
        return g.linear(g.reshape(out, (-1, heads * self.value_dim)), "o")

    def _queries(self, g, x):
        if self.q_rank is None:
            return g.linear(x, "q")
        latent = g.linear(x, "q_down")
        with g.scope("q_norm"):
            latent = self.latent_norm.lower(g, latent)
        return g.linear(latent, "q_up")

    def _kept(self, g, call, latent, turned):
        """Latent vectors [N, L] and turned keys [B, T, R] with those of earlier calls: -> [B * S, L], [B, S, R]"""
        one = g.constant([1], "int64")
        for name, new in (("latent", call.frame.sequences(latent)), ("key", turned)):
            call.present[name] = g.op("Concat", call.past[name], g.op("Unsqueeze", new, one), axis=2)  # [B, 1, S, L or R]
        return g.reshape(call.present["latent"], (-1, self.kv_rank)), g.op("Squeeze", call.present["key"], one)

    def _joined(self, g, plain, turned):
        """[N, H, nope] and [N, H, rope] -> [N, H * (nope + rope)]"""
        return g.reshape(g.op("Concat", plain, turned, axis=-1), (-1, self.heads * self.key_dim))
