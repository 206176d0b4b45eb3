"""What the heads have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from specc.ir.node import Component, Dims, Finding, Parameter


class Head(Component):
    """Base of the axis."""

    axis: ClassVar[str] = "head"
    outputs: ClassVar[tuple[str, ...]] = ("logits",)

    def output_shape(self, name: str, dims: Dims) -> tuple[int | str, ...]:
        """The extents of a named output: integers and the symbols batch and sequence."""
        return ("batch", "sequence", dims.vocab or 0)


def vocabulary(dims: Dims) -> Iterator[Finding]:
    """A head over the vocabulary needs one."""
    if dims.vocab is None:
        yield Finding("kind", "VAL003", "this head needs `vocab`, and the model does not state it", "add `vocab = ...` to the model")


def table(dims: Dims, width: int, tied: bool, bias: bool) -> tuple[Parameter, ...]:
    """The output matrix [V, width], unless it is the token table, and its bias."""
    vocab = dims.vocab or 0
    weight = () if tied else (Parameter("weight", (vocab, width)),)
    return weight + ((Parameter("bias", (vocab,), "zeros"),) if bias else ())


def scores(g, x, tied: bool, bias: bool):
    """x [N, width] -> [N, V]"""
    weight = g.token_table() if tied else g.parameter("weight")
    return g.op("Gemm", x, weight, *([g.parameter("bias")] if bias else []), transB=1)
