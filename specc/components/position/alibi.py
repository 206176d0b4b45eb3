"""Attention with linear biases (Press et al., 2021, https://arxiv.org/abs/2108.12409, section 3)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.components.position.base import Position


def slopes(heads: int, bias_max: float) -> list[float]:
    """One slope per head: a geometric sequence that ends at 2^-bias_max.

    For a number of heads that is no power of two, the sequence of the next power down, then every second slope of the one
    after that from its start (the authors' code, https://github.com/ofirpress/attention_with_linear_biases).
    """
    whole = 1 << (heads.bit_length() - 1)
    first = [2.0 ** (-bias_max * (n + 1) / whole) for n in range(whole)]
    return first + [2.0 ** (-bias_max * (2 * n + 1) / (2 * whole)) for n in range(heads - whole)]


class Alibi(Position):
    """Adds to each score a penalty linear in the distance between query and key, with a slope of its own for each head."""

    per_head: ClassVar[bool] = True
    kind: Literal["alibi"] = "alibi"
    bias_max: float = Field(default=8.0, gt=0)

    def bias(self, g, frame, heads: int):
        """-> [B, H, T, S]"""
        key = g.op("Unsqueeze", frame.key_positions, g.constant([1, 2], "int64"))  # [B, 1, 1, S]
        query = g.op("Unsqueeze", frame.positions, g.constant([1, 3], "int64"))  # [B, 1, T, 1]
        distance = g.op("Cast", g.op("Abs", g.op("Sub", key, query)), to="float32")
        slope = g.constant([[[-s]] for s in slopes(heads, self.bias_max)], "float32")  # [H, 1, 1]
        return g.cast(g.op("Mul", distance, slope))
