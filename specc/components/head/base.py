"""What the heads have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from specc.components.registry import slot
from specc.ir.node import Component, Dims, Finding, Parameter, linear, structural, under

Pool = Literal["first", "last", "mean", "mean_patches"]


class Head(Component):
    """Base of the axis."""

    axis: ClassVar[str] = "head"
    outputs: ClassVar[tuple[str, ...]] = ("logits",)

    def output_shape(self, name: str, dims: Dims) -> tuple[int | str, ...]:
        """The extents of a named output: integers and the symbols batch and sequence."""
        return ("batch", "sequence", dims.vocab or 0)


def with_leading(given: dict[str, Any], dims: Dims) -> dict[str, Any]:
    """A head's fields with the tokens in front of the patches counted, where it takes the patches alone."""
    pools = given.get("pool")
    takes = "mean_patches" in (pools if isinstance(pools, tuple) else (pools,))
    return {"leading": dims.leading, **given} if takes and dims.image else given


def check_pools(pools: tuple[str, ...], leading: int, dims: Dims) -> Iterator[Finding]:
    """Patches stand only in images, and `leading` counts the tokens in front of them."""
    if "mean_patches" in pools and dims.image is None:
        yield Finding("pool", "IMG002", "`mean_patches` is a mean over the patches of an image, and this model reads no images")
    elif "mean_patches" not in pools and leading:
        yield Finding("leading", "TYP005", "`leading` counts the tokens that `mean_patches` leaves out, and the patches are not pooled here")
    elif "mean_patches" in pools and leading >= (dims.context or 0):
        yield Finding("leading", "IMG001", f"behind {leading} of {dims.context} tokens there are none to take the mean of")


def pooled(g, call, hidden, pools: tuple[str, ...], leading: int):
    """hidden [B, T, C] -> [B, C], or [B, n * C] for n pools one beside the other"""
    found = []
    for pool in pools:
        if pool == "mean_patches":
            ends = g.constant([leading], "int64"), g.constant([2**62], "int64")
            found.append(g.op("ReduceMean", g.op("Slice", hidden, *ends, g.constant([1], "int64")), g.constant([1], "int64"), keepdims=0))
        else:
            found.append({"first": call.frame.first, "last": call.frame.last, "mean": call.frame.mean}[pool](hidden))
    return found[0] if len(found) == 1 else g.op("Concat", *found, axis=-1)


class Transformed(Head):
    """A head with a layer of its own before the last map: dense_norm(activation(dense(x))), where it has an activation."""

    activation: slot("activation", optional=True) = None
    dense_bias: bool = structural(True)
    dense_norm: slot("norm", optional=True) = None

    def check(self, dims: Dims) -> Iterator[Finding]:
        for name, stated in (("dense_bias", not self.dense_bias), ("dense_norm", self.dense_norm is not None)):
            if stated and self.activation is None:
                yield Finding(name, "TYP005", f"`{name}` is about the layer before the last map, and without `activation` there is none")

    def dense(self, width: int) -> tuple[Parameter, ...]:
        """The parameters of that layer."""
        if self.activation is None:
            return ()
        norm = () if self.dense_norm is None else under("dense_norm", self.dense_norm.over(width))
        return linear("dense", width, width, self.dense_bias) + norm

    def transformed(self, g, x):
        """x [..., C] -> the same"""
        if self.activation is None:
            return x
        x = self.activation.lower(g, g.linear(x, "dense"))
        if self.dense_norm is None:
            return x
        with g.scope("dense_norm"):
            return self.dense_norm.lower(g, x)


def vocabulary(dims: Dims) -> Iterator[Finding]:
    """A head over the vocabulary needs one."""
    if dims.vocab is None:
        yield Finding("kind", "VAL003", "this head needs `vocab`, and the model does not state it", "add `vocab = ...` to the model")


def table(dims: Dims, width: int, tied: bool, bias: bool, module: bool = False) -> tuple[Parameter, ...]:
    """The output matrix [V, width], unless it is the token table, and its bias; module: whether the head is nothing else."""
    vocab = dims.vocab or 0
    weight = () if tied else (Parameter("weight", (vocab, width), slot="map" if module else ""),)
    return weight + ((Parameter("bias", (vocab,), "zeros"),) if bias else ())


def scores(g, x, tied: bool, bias: bool):
    """x [N, width] -> [N, V]"""
    if not tied:
        return g.linear(x, "")
    return g.op("Gemm", x, g.token_table(), *([g.parameter("bias")] if bias else []), transB=1)
