"""Relative attention of Transformer-XL (Dai et al., 2019, section 3.3, https://arxiv.org/abs/1901.02860) and XLNet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from specc.components.position.base import Position
from specc.ir.node import Dims, Finding, HeadDims, Input, Parameter, linear, structural

SEGMENTS = Input("token_type_ids", ("B", "S"), values="runs", about="past and new tokens, equal where tokens are of one segment")


class TransformerXL(Position):
    """Scores (q + u) k + (q + v) R(i - j): a sinusoid of the distance, mapped by R, and biases u and v for contents and positions.

    furthest: distances beyond it count as so far. segments adds (q + w) s, s one of two vectors of a head: whether query and key
    are of one segment or not (Yang et al., 2019, section 2.5, https://arxiv.org/abs/1906.08237). All terms have the attention's
    scale.
    """

    kind: Literal["transformer_xl"] = "transformer_xl"
    theta: float = Field(default=10_000.0, gt=0)
    furthest: int | None = Field(default=None, gt=0)
    segments: bool = structural(False)

    def check(self, dims: Dims) -> Iterator[Finding]:
        if dims.dim % 2:
            yield Finding("kind", "SHP002", f"sinusoids pair channels, and the width {dims.dim} is odd")

    @property
    def scores(self) -> bool:
        return True

    @property
    def reads_contents(self) -> bool:
        return True

    def inputs(self) -> tuple[Input, ...]:
        return (SEGMENTS,) if self.segments else ()

    def parameters(self, dims: HeadDims) -> tuple[Parameter, ...]:
        shape = dims.heads, dims.head_dim
        found = linear("r", dims.dim, dims.heads * dims.head_dim, False)
        found += tuple(Parameter(name, shape) for name in ("content_bias", "position_bias"))
        return found + ((Parameter("segment_bias", shape), Parameter("segments", (2, *shape))) if self.segments else ())

    def tables(self, g, frame, width: int):
        """-> a sinusoid for each distance, from the largest one down [P, C]; and the places of each pair [T, S], or whether it differs"""
        total, one = frame.total, g.integer(1)
        last = g.op("Sub", total, one)
        distance = g.op("Range", last, g.op("Neg", total), g.integer(-1))  # S - 1 ... 1 - S
        if self.furthest is not None:
            distance = g.op("Clip", distance, g.integer(-self.furthest), g.integer(self.furthest))
        half = frame.dims.dim // 2
        paces = g.constant([[self.theta ** (-i / half) for i in range(half)]], "float32")
        angles = g.op("Mul", g.reshape(g.op("Cast", distance, to="float32"), (-1, 1)), paces)
        vectors = g.cast(g.op("Concat", g.op("Sin", angles), g.op("Cos", angles), axis=-1))
        if not self.segments:
            return vectors, self._places(g, frame)
        ids = frame.wanted(SEGMENTS)  # [B, S]
        past = g.reshape(g.op("Sub", total, frame.new), (1,))
        mine = g.op("Slice", ids, past, g.reshape(total, (1,)), g.constant([1], "int64"))  # [B, T]
        axes = g.constant([1, 3], "int64"), g.constant([1, 2], "int64")
        same = g.op("Equal", g.op("Unsqueeze", mine, axes[0]), g.op("Unsqueeze", ids, axes[1]))
        return vectors, g.op("Cast", g.op("Not", same), to=g.compute)  # [B, 1, T, S]

    @staticmethod
    def _places(g, frame):
        """-> [T, S]: the row of a pair's distance i - j"""
        return g.op("Add", g.op("Sub", frame.key_row, frame.query_column), g.op("Sub", frame.total, g.integer(1)))

    def score(self, g, q, k, call, attention):
        """-> [B, H, T, S]"""
        heads, width = attention.heads, attention.head_dim
        vectors, second = call.tables
        q = g.op("Transpose", g.reshape(q, (0, 0, heads, width)), perm=(0, 2, 1, 3))  # [B, H, T, D]
        k = g.op("Transpose", g.reshape(k, (0, 0, heads, width)), perm=(0, 2, 3, 1))  # [B, H, D, S]
        with g.scope("position"):
            biases = {name: g.reshape(g.parameter(f"{name}_bias"), (heads, 1, width)) for name in self._biases}
            mapped = g.op("Transpose", g.reshape(g.linear(vectors, "r"), (-1, heads, width)), perm=(1, 2, 0))  # [H, D, P]
            each = g.op("MatMul", g.op("Add", q, biases["position"]), mapped)  # [B, H, T, P]
            places = call.frame.pairs(self._places(g, call.frame) if self.segments else second, heads)
            total = g.op("Add", g.op("MatMul", biases["content"], k), g.op("GatherElements", each, places, axis=3))
            if self.segments:
                pair = g.op("Transpose", g.parameter("segments"), perm=(1, 2, 0))  # [H, D, 2]
                scored = g.op("MatMul", g.op("Add", q, biases["segment"]), pair)  # [B, H, T, 2]
                same, other = g.ops("Split", scored, g.constant([1, 1], "int64"), outputs=2, axis=-1)
                total = g.op("Add", total, g.op("Add", same, g.op("Mul", second, g.op("Sub", other, same))))
            return g.op("Mul", total, g.number(attention.scale))

    @property
    def _biases(self) -> tuple[str, ...]:
        return ("content", "position", *["segment"] * self.segments)
