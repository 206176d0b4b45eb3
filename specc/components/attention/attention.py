"""Scaled dot-product attention with many heads (Vaswani et al., 2017, section 3.2, https://arxiv.org/abs/1706.03762).

Fewer key-value heads than query heads make it grouped-query attention (Ainslie et al., 2023,
https://arxiv.org/abs/2305.13245), one of them multi-query attention (Shazeer, 2019, https://arxiv.org/abs/1911.02150).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from specc.components.attention.base import filled
from specc.components.registry import slot
from specc.ir.node import Component, Dims, Finding, Parameter, State, linear, structural, under

ROLES = ("q", "k", "v", "o")


class Attention(Component):
    """softmax(scale * q k^T) v, head by head, between linear maps q, k, v and o.

    bias: true, false, or the roles that have one. scale defaults to head_dim^-0.5. softcap s turns each scaled score x into
    s * tanh(x / s) (Gemma 2, https://arxiv.org/abs/2408.00118). qk_norm normalises queries and keys, before or after the position
    scheme turns them: over each head's channels with one weight for all heads (head), with a weight per head (each_head),
    or over the whole width at once (width). clip c bounds queries, keys and values to [-c, c] before they are turned (OLMo).
    temperature multiplies the queries (Llama 4). sinks adds one learned score per head that takes part in the softmax and reads
    nothing (gpt-oss). gate multiplies what comes out of the heads by sigmoid(gate(x)), a number for each channel or one for
    each head (Qiu et al., 2025, https://arxiv.org/abs/2505.06708); its linear map has a bias where the roles name it.
    """

    axis: ClassVar[str] = "attention"
    shows_weights: ClassVar[bool] = True
    crosses: ClassVar[bool] = True
    takes_shared: ClassVar[bool] = True
    native: ClassVar[dict[str, str]] = dict.fromkeys(("kind", "heads", "kv_heads", "scale", "softcap"), "Attention")
    takes_score: ClassVar[bool] = True
    kind: Literal["attention"] = "attention"
    heads: int = Field(gt=0)
    kv_heads: int = Field(gt=0)
    head_dim: int = Field(gt=0)
    bias: tuple[Literal["q", "k", "v", "o", "gate"], ...] = structural(())
    scale: float
    softcap: float | None = Field(default=None, gt=0)
    clip: float | None = Field(default=None, gt=0)
    qk_norm: slot("norm", optional=True) = None
    qk_norm_over: Literal["head", "each_head", "width"] = structural("head")
    qk_norm_at: Literal["before_position", "after_position"] = structural("before_position")
    temperature: slot("temperature", optional=True) = None
    sinks: bool = structural(False)
    gate: Literal["channel", "head"] | None = structural(None)

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        return filled(given, dims, ROLES)

    @classmethod
    def missing(cls, name: str, given: dict[str, Any], dims: Dims) -> Finding | None:
        """Why a derived default could not be derived."""
        if name in ("head_dim", "scale") and isinstance(given.get("heads"), int) and given["heads"] > 0 and dims.dim % given["heads"]:
            message = f"width {dims.dim} is not a multiple of {given['heads']} heads"
            return Finding("heads", "SHP001", message, "state `head_dim:` to choose a head width of its own")
        return None

    def check(self, dims: Dims) -> Iterator[Finding]:
        if self.heads % self.kv_heads:
            yield Finding("kv_heads", "SHP003", f"{self.heads} query heads cannot share {self.kv_heads} key-value heads evenly")
        if self.qk_norm is None and self.qk_norm_over != "head":
            yield Finding("qk_norm_over", "TYP005", "qk_norm_over is set, and there is no qk_norm for it to shape")
        if self.qk_norm is None and self.qk_norm_at != "before_position":
            yield Finding("qk_norm_at", "TYP005", "qk_norm_at is set, and there is no qk_norm that would stand there")
        if self.gate is None and "gate" in self.bias:
            yield Finding("bias", "TYP005", "the gate is to have a bias, and there is no gate")

    @property
    def q_width(self) -> int:
        return self.heads * self.head_dim

    @property
    def kv_width(self) -> int:
        return self.kv_heads * self.head_dim

    @property
    def gate_width(self) -> int:
        return 0 if self.gate is None else self.heads if self.gate == "head" else self.q_width

    @property
    def reads_positions(self) -> bool:
        """Whether it asks the frame for the queries' positions."""
        return self.temperature is not None and self.temperature.of == "positions"

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        found = linear("q", dims.dim, self.q_width, "q" in self.bias)
        if not dims.shared:
            found += linear("k", dims.memory or dims.dim, self.kv_width, "k" in self.bias)
            found += linear("v", dims.memory or dims.dim, self.kv_width, "v" in self.bias)
        found += linear("o", self.q_width, dims.dim, "o" in self.bias)
        if self.qk_norm is not None:
            found += under("q_norm", self.qk_norm.over(*self._norm_shape(self.heads)))
            if not dims.shared:
                found += under("k_norm", self.qk_norm.over(*self._norm_shape(self.kv_heads)))
        if self.gate is not None:
            found += linear("gate", dims.dim, self.gate_width, "gate" in self.bias)
        if self.sinks:
            found += (Parameter("sinks", (self.heads,)),)
        return found

    def inert(self, beside) -> tuple[str, ...]:
        """A norm that only looks at lengths says the same of a vector that is turned."""
        turned = self.clip is None and getattr(self.qk_norm, "of_length", False)
        return ("qk_norm_at",) if turned else ()

    def check_across(self) -> Iterator[Finding]:
        """What is wrong with it where keys and values come from the encoder."""
        if self.sinks:
            yield Finding("sinks", "CAP001", "sinks cannot be compiled there yet")
        if self.temperature is not None:
            yield Finding("temperature", "CAP001", "a temperature by position cannot be compiled there yet")

    def check_shared(self) -> Iterator[Finding]:
        """What is wrong with it where keys and values are those of an earlier layer."""
        if self.sinks:
            yield Finding("sinks", "CAP001", "sinks cannot be compiled yet over shared keys and values")

    def _norm_shape(self, heads: int) -> tuple[int, ...]:
        shapes = {"head": (self.head_dim,), "each_head": (heads, self.head_dim), "width": (heads * self.head_dim,)}
        return shapes[self.qk_norm_over]

    def state(self, dims: Dims) -> tuple[State, ...]:
        if dims.shared:
            return ()
        tokens = "S" if dims.memory is None else "M"
        return tuple(State(name, ("B", self.kv_heads, tokens, self.head_dim)) for name in ("key", "value"))

    def flops(self, dims: Dims, context: float) -> int:
        """Where keys and values come from the encoder, they are those of one of its tokens."""
        source = 0 if dims.shared else dims.memory or dims.dim
        maps = 4 * dims.dim * self.q_width + 4 * source * self.kv_width + 2 * dims.dim * self.gate_width
        return maps + round(4 * self.q_width * context)

    def shrunk(self, plan) -> Attention:
        heads, kv_heads = plan.heads(self.heads, self.kv_heads)
        head_dim = plan.head_width(self.head_dim)
        default = self.head_dim**-0.5
        scale = self.scale if self.scale == 1 else head_dim**-0.5 if self.scale == default else self.scale / default * head_dim**-0.5
        temperature = None if self.temperature is None else self.temperature.shrunk(plan)
        return self.replaced(heads=heads, kv_heads=kv_heads, head_dim=head_dim, scale=scale, temperature=temperature)

    def lower(self, g, x, call):
        """x [N, C] -> [N, C]"""
        if call.memory is not None:
            return self._across(g, x, call)
        if call.shared is not None:
            return self._reading(g, x, call)
        q, k, v, *gate = g.linears(x, ("q", "k", "v", "gate") if self.gate else ("q", "k", "v"))  # [N, H*D], [N, K*D], [N, K*D]
        before = self.qk_norm_at == "before_position"
        q, k = self._prepared(g, q, self.heads, "q_norm" if before else None), self._prepared(g, k, self.kv_heads, "k_norm" if before else None)
        v = self._prepared(g, v, self.kv_heads, None)
        q, k, v = call.frame.sequences(q), call.frame.sequences(k), call.frame.sequences(v)  # [B, T, H*D]
        q, k = call.position.rotate(g, q, k, self.heads, self.kv_heads, self.head_dim, call.tables)
        if self.qk_norm_at == "after_position":
            q, k = (call.frame.sequences(self._normalised(g, *of)) for of in ((q, self.heads, "q_norm"), (k, self.kv_heads, "k_norm")))
        if self.temperature is not None:
            q = g.op("Mul", q, self.temperature.factor(g, call.frame))
        out = self._with_sinks(g, q, k, v, call) if self.sinks else self._plain(g, q, k, v, call)
        out = g.reshape(out, (-1, self.q_width))
        return g.linear(self._gated(g, out, *gate) if gate else out, "o")

    def _gated(self, g, out, gate):
        """out [N, H*D], gate [N, H*D] or [N, H] -> [N, H*D]"""
        gate = g.sigmoid(gate)
        if self.gate == "channel":
            return g.op("Mul", out, gate)
        each = g.op("Mul", g.reshape(out, (-1, self.heads, self.head_dim)), g.op("Unsqueeze", gate, g.constant([2], "int64")))
        return g.reshape(each, (-1, self.q_width))

    def _across(self, g, x, call):
        """x [N, C] reads from the encoder's output, whose keys and values are computed by the first call and kept."""
        q, *gate = g.linears(x, ("q", "gate") if self.gate else ("q",))
        q = self._prepared(g, q, self.heads, "q_norm")
        q = self._heads(g, call.frame.sequences(q), self.heads)  # [B, H, T, D]

        def made():
            k, v = g.linears(call.memory.rows, ("k", "v"))
            k, v = self._prepared(g, k, self.kv_heads, "k_norm"), self._prepared(g, v, self.kv_heads, None)
            return tuple(self._heads(g, call.memory.sequences(part), self.kv_heads) for part in (k, v))  # [B, K, M, D]

        k, v = call.memory.once(call.past, made)
        call.present |= {"key": k, "value": v}
        options = {"scale": self.scale} | ({} if self.softcap is None else {"softcap": self.softcap})
        out = g.op("Attention", q, k, v, call.mask, **options)  # [B, H, T, D]
        out = g.reshape(g.op("Transpose", out, perm=(0, 2, 1, 3)), (-1, self.q_width))
        return g.linear(self._gated(g, out, *gate) if gate else out, "o")

    def _reading(self, g, x, call):
        """x [N, C] reads the keys and values of an earlier layer, [B, K, S, D]: only queries are made."""
        q, *gate = g.linears(x, ("q", "gate") if self.gate else ("q",))
        q = call.frame.sequences(self._prepared(g, q, self.heads, "q_norm" if self.qk_norm_at == "before_position" else None))  # [B, T, H*D]
        q, _ = call.position.rotate(g, q, None, self.heads, self.kv_heads, self.head_dim, call.tables)
        if self.qk_norm_at == "after_position":
            q = call.frame.sequences(self._normalised(g, q, self.heads, "q_norm"))
        if self.temperature is not None:
            q = g.op("Mul", q, self.temperature.factor(g, call.frame))
        options = {"scale": self.scale} | ({} if self.softcap is None else {"softcap": self.softcap})
        out = call.attend(self._heads(g, q, self.heads), call.shared["key"], call.shared["value"], call.mask, **options)  # [B, H, T, D]
        out = g.reshape(g.op("Transpose", out, perm=(0, 2, 1, 3)), (-1, self.q_width))
        return g.linear(self._gated(g, out, *gate) if gate else out, "o")

    def _prepared(self, g, x, heads: int, norm: str | None):
        """x [N, heads*D] under its norm and within its bounds -> the same"""
        if norm is not None and self.qk_norm is not None:
            x = self._normalised(g, x, heads, norm)
        return x if self.clip is None else g.op("Clip", x, g.number(-self.clip), g.number(self.clip))

    def _heads(self, g, x, heads: int):
        """x [B, L, heads*D] -> [B, heads, L, D]"""
        return g.op("Transpose", g.reshape(x, (0, 0, heads, self.head_dim)), perm=(0, 2, 1, 3))

    def _plain(self, g, q, k, v, call):
        """The operator as it is: q [B, T, H*D], k and v [B, T, K*D] -> [B, T, H*D]"""
        options = {"q_num_heads": self.heads, "kv_num_heads": self.kv_heads, "scale": self.scale}
        if self.softcap is not None:
            options["softcap"] = self.softcap
        mask = call.mask
        if call.position.scores:
            mask = call.scored(q, k if call.past is None else self._joined(g, k, call.past["key"]), self)
        return call.attend(q, k, v, mask, **options)

    def _joined(self, g, k, past):
        """All keys in rows: k [B, T, K*D], past [B, K, P, D] -> [B, S, K*D]"""
        past = g.reshape(g.op("Transpose", past, perm=(0, 2, 1, 3)), (0, 0, self.kv_heads * self.head_dim))
        return g.op("Concat", past, k, axis=1)

    def _with_sinks(self, g, q, k, v, call):
        """Spelt out, the sink as one more column of the softmax, cut off after it. Query heads that share keys stand in rows."""
        width = self.head_dim
        joined = k if call.past is None or not call.position.scores else self._joined(g, k, call.past["key"])
        mask = call.scored(q, joined, self)
        q = g.reshape(g.op("Transpose", g.reshape(q, (0, 0, self.heads, width)), perm=(0, 2, 1, 3)), (0, self.kv_heads, -1, width))  # [B, K, G*T, D]
        k, v = (g.op("Transpose", g.reshape(x, (0, 0, self.kv_heads, width)), perm=(0, 2, 1, 3)) for x in (k, v))  # [B, K, T, D]
        if call.past is not None:
            k, v = (g.op("Concat", call.past[name], x, axis=2) for name, x in (("key", k), ("value", v)))
            call.present |= {"key": k, "value": v}
        scores = g.op("MatMul", g.op("Mul", q, g.number(self.scale)), g.op("Transpose", k, perm=(0, 1, 3, 2)))  # [B, K, G*T, S]
        scores = call.frame.per_head(scores, self.heads)  # [B, H, T, S]
        if self.softcap is not None:
            scores = g.op("Mul", g.op("Tanh", g.op("Div", scores, g.number(self.softcap))), g.number(self.softcap))
        scores = call.frame.hide(scores, mask)
        sink = g.op("Expand", g.reshape(g.parameter("sinks"), (1, self.heads, 1, 1)), call.frame.one_column(self.heads))
        shares = g.op("Softmax", g.op("Concat", scores, sink, axis=-1), axis=-1)
        shares = g.op("Slice", shares, g.constant([0], "int64"), g.constant([-1], "int64"), g.constant([3], "int64"))
        call.weights = shares
        out = g.op("MatMul", call.frame.per_group(shares, self.kv_heads), v)  # [B, K, G*T, D]
        out = g.op("Transpose", call.frame.per_head(out, self.heads), perm=(0, 2, 1, 3))  # [B, T, H, D]
        return g.reshape(out, (0, 0, self.q_width))

    def _normalised(self, g, x, heads: int, name: str):
        """x [..., heads*D] -> [N, heads*D]"""
        with g.scope(name):
            if self.qk_norm_over == "width":
                return self.qk_norm.lower(g, g.reshape(x, (-1, heads * self.head_dim)) if self.qk_norm_at == "after_position" else x)
            x = self.qk_norm.lower(g, g.reshape(x, (-1, heads, self.head_dim)))
        return g.reshape(x, (-1, heads * self.head_dim))
