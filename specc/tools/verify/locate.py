"""Where two back ends part: the first layer after which their hidden states differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from specc.components.registry import load
from specc.ir.model import Model
from specc.tools.tolerance import TOLERANCE
from specc.tools.verify.inputs import Inputs
from specc.tools.verify.perturb import apart

if TYPE_CHECKING:
    from numpy import ndarray

Compute = Callable[[Model], "dict[str, ndarray]"]


def first_difference(model: Model, given: Inputs, one: Compute, other: Compute) -> str:
    """A name for the place, found by computing the first layers alone."""
    for count, layer in enumerate(model.stack.layers, 1):
        cut = beginning(model, count)
        if apart(other(cut), one(cut), given, least=1.0) > TOLERANCE["float32"]:
            of = f" of the {model.stack.name}" if model.stack.name else ""
            before = (", or the encoder, or the embedding" if of else ", or the embedding") if count == 1 else ""
            return f"layer {count - 1} ({layer.label}){of}{before}"
    return "the head" if model.stack.final_norm is None else "the final norm or the head"


def beginning(model: Model, count: int) -> Model:
    """The model up to its first layers, without a head: it gives the hidden state after them."""
    stack = model.stack
    dims = stack.dims.replaced(depth=count)
    cut = stack.replaced(dims=dims, layers=stack.layers[:count], sets=stack.sets[:count], final_norm=None)
    head = model.heads[0].replaced(path="head", component=load("head", "hidden")(), width=dims.dim)
    return model.replaced(stacks=(*model.stacks[:-1], cut), heads=(head,), weights=())
