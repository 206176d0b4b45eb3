"""One drawn model in both back ends: the same random weights, a full pass, a padded batch and cached steps in uneven pieces."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from specc.components.registry import axis_of_field
from specc.ir.model import Model
from specc.ir.node import Component
from specc.tools.tolerance import TOLERANCE
from specc.tools.verify.by_onnx import ByOnnx
from specc.tools.verify.by_torch import ByTorch
from specc.tools.verify.inputs import Inputs
from specc.tools.verify.numbers import drawn, save
from specc.tools.verify.perturb import apart
from tests.fuzz.drawn import CONTEXT
from tests.harness import model_of

BATCH = 2


@dataclass(frozen=True)
class Feed:
    """What a model is run on: tokens of two rows, the columns of the second row that are padding, the sizes of cached steps."""

    seed: int
    length: int
    padding: int
    hole: int | None
    pieces: tuple[int, ...]


@st.composite
def feeds(draw) -> Feed:
    length = draw(st.integers(2, CONTEXT - 6))
    padding = draw(st.integers(0, length - 1))
    hole = draw(st.none() | st.integers(0, length - 1))
    cuts = sorted(draw(st.sets(st.integers(1, length - 1), max_size=3)))
    pieces = tuple(end - start for start, end in zip([0, *cuts], [*cuts, length], strict=True))
    return Feed(draw(st.integers(0, 999)), length, padding, hole, pieces)


def disagreements(text: str, feed: Feed) -> list[str]:
    """Every comparison that does not hold, in words. Raises SpecError where the text is no model."""
    import torch

    torch.set_num_threads(1)
    model = model_of(text)
    with tempfile.TemporaryDirectory() as name:
        folder, numbers = Path(name), drawn(model, feed.seed)
        save(model, numbers, folder)
        by_torch, by_onnx = ByTorch(model, numbers, folder), ByOnnx(model, folder)
        return [f"{what}: {error:.2e}" for what, error in _compared(model, feed, by_torch, by_onnx) if not error <= TOLERANCE["float32"]]


def _compared(model: Model, feed: Feed, by_torch: ByTorch, by_onnx: ByOnnx) -> Iterator[tuple[str, float]]:
    whole, padded = _inputs(model, feed, False), _inputs(model, feed, True)
    for what, given in (("full pass", whole), ("padded batch", padded)):
        yield what, apart(by_onnx.run(given), by_torch.run(given), given)
    stack, head = model.stack, model.heads[0].component
    kept = stack.causal and any(i.component.state(stack.dims) for layer in stack.layers for i in layer.instances)
    if not kept or any("sequence" not in head.output_shape(name, stack.dims) for name in head.outputs) or "pooler_output" in head.outputs:
        return
    mine, theirs = by_torch.steps(padded, list(feed.pieces)), by_onnx.steps(padded, list(feed.pieces))
    yield "cached steps", apart(theirs, mine, padded)
    if not any(_by_longest(layer.position) for layer in stack.layers):
        full = by_torch.run(padded)
        yield "cached steps in PyTorch and its full pass", apart(mine, full, padded)
        yield "cached steps in ONNX Runtime and PyTorch's full pass", apart(theirs, full, padded)


def _inputs(model: Model, feed: Feed, padded: bool) -> Inputs:
    """Padding stands left of a causal text, right of another; one more column may be hidden anywhere."""
    rng = np.random.default_rng(feed.seed)
    given = {}
    for part in model.stack.embedding.instances:
        for wanted in part.component.inputs():
            rows = part.parameters(model.stack.dims)[0].shape[0]
            given[wanted.name] = rng.integers(0, rows, (BATCH, feed.length), dtype=np.int64)
    mask = np.ones((BATCH, feed.length), np.int64)
    if padded:
        if model.stack.causal:
            mask[1, : feed.padding] = 0
        else:
            mask[1, feed.length - feed.padding :] = 0
        if feed.hole is not None and mask[1].sum() > 1:
            mask[1, feed.hole] = 0
    return Inputs(given, mask)


def _by_longest(component: Component) -> bool:
    """Whether the length of a call changes what its earlier tokens give."""
    inner = [getattr(component, name) for name in type(component).model_fields if axis_of_field(type(component), name)]
    return component.by_longest or any(_by_longest(part) for part in inner if part is not None)
