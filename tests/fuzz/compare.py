"""One drawn model in both back ends: the same random weights, a full pass, a padded batch and cached steps in uneven pieces."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from specc.components.registry import axis_of_field
from specc.ir.model import Model, Stack
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
BLURRED = 4  # times as far from the exact numbers as rounding moves PyTorch
WORST = 1e-3  # a model that rounding moves further than this proves nothing
DRAWS = 4  # of other roundings


class IllPosed(Exception):
    """Rounding alone moves the model's numbers: nothing can be said of them."""


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
    """Every comparison that does not hold, in words. Raises SpecError where the text is no model, IllPosed where it proves nothing.

    A random model may blow rounding up. Where the back ends part by more than the tolerance, PyTorch alone decides: how far
    float64, and float32 rounded otherwise, lie from it is what rounding does to this model, and ONNX Runtime may lie a few
    times as far from float64.
    """
    import torch

    torch.set_num_threads(1)
    model = model_of(text)
    with tempfile.TemporaryDirectory() as name:
        folder, numbers = Path(name), drawn(model, feed.seed)
        save(model, numbers, folder)
        by_torch, by_onnx = ByTorch(model, numbers, folder), ByOnnx(model, folder)
        found = []
        for what, got, want, given, run in _compared(model, feed, by_torch, by_onnx):
            error = apart(got, want, given)
            if not error <= TOLERANCE["float32"]:
                exactly = ByTorch(model, numbers, folder)
                exactly.network.double()
                exact = run(exactly)
                others = [_rounded_otherwise(ByTorch(model, numbers, folder), draw, run) for draw in range(DRAWS)]
                blur = max(apart(want, other, given) for other in (exact, *others))
                if blur > WORST:
                    raise IllPosed(f"{what}: rounding moves it by {blur:.2e}")
                if not apart(got, exact, given) <= BLURRED * blur:
                    found.append(f"{what}: {error:.2e} apart, rounding explains {blur:.2e}")
        return found


def _rounded_otherwise(by: ByTorch, seed: int, run):
    """What PyTorch computes where every weight, and every router's sigmoid, is its neighbour among the float32 numbers or itself.

    A sigmoid is 1 or all but 1 from 15 on: which expert has the largest one may hang on its last bit.
    """
    import torch

    noise, sigmoid = torch.Generator().manual_seed(seed), torch.Tensor.sigmoid  # the routers' own

    def near(x):
        return x * (1 + torch.randint(-1, 2, x.shape, generator=noise) * torch.finfo(x.dtype).eps)

    with torch.no_grad():
        for weight in by.network.parameters():
            if weight.is_floating_point():
                weight.copy_(near(weight))
        torch.Tensor.sigmoid = lambda x: near(sigmoid(x))
        try:
            return run(by)
        finally:
            torch.Tensor.sigmoid = sigmoid


def _compared(model: Model, feed: Feed, by_torch: ByTorch, by_onnx: ByOnnx) -> Iterator[tuple]:
    """-> what is compared, one result and the other, on which inputs, and how a model by PyTorch computes the latter."""
    whole, padded = _inputs(model, feed, False), _inputs(model, feed, True)
    for what, given in (("full pass", whole), ("padded batch", padded)):
        yield what, by_onnx.run(given), by_torch.run(given), given, lambda by, given=given: by.run(given)
    stack = model.stack
    kept = stack.causal and any(i.component.state(stack.dims) for layer in stack.layers for i in layer.instances)
    if not kept or any("sequence" not in shape for shape in model.outputs.values()):
        return
    pieces = list(feed.pieces)
    mine, theirs = by_torch.steps(padded, pieces), by_onnx.steps(padded, pieces)
    yield "cached steps", theirs, mine, padded, lambda by: by.steps(padded, pieces)
    if not any(_by_longest(c) for layer in stack.layers for c in (layer.position, *(i.component for i in layer.instances))):
        full = by_torch.run(padded)
        yield "cached steps in PyTorch and its full pass", mine, full, padded, lambda by: by.run(padded)
        yield "cached steps in ONNX Runtime and PyTorch's full pass", theirs, full, padded, lambda by: by.run(padded)


def _inputs(model: Model, feed: Feed, padded: bool) -> Inputs:
    """Padding stands left of a causal text, right of another; one more column may be hidden anywhere."""
    rng = np.random.default_rng(feed.seed)
    if image := model.stack.dims.image:  # which have no padding: another size instead
        # torch 2.13 interpolates wrongly, with antialias, to a single column
        rows, columns = (1 + feed.length % 5, 2 + (feed.length + feed.padding) % 5) if padded else image.grid
        height, width = rows * image.patch[0] + padded, columns * image.patch[1]
        pixels = rng.standard_normal((BATCH, image.channels, height, width)).astype(np.float32)
        return Inputs({"pixel_values": pixels}, np.ones((BATCH, height // image.patch[0] * columns + model.stack.dims.leading), np.int64))
    if model.encoder is not None:  # whose source is padded; a target is not
        source = _tokens(model, model.encoder, rng, _mask(feed, padded, left=False), feed)
        return replace(_tokens(model, model.stack, rng, np.ones((BATCH, feed.length), np.int64), feed), source=source)
    return _tokens(model, model.stack, rng, _mask(feed, padded, left=model.stack.causal), feed)


def _mask(feed: Feed, padded: bool, left: bool) -> np.ndarray:
    mask = np.ones((BATCH, feed.length), np.int64)
    if padded:
        if left:
            mask[1, : feed.padding] = 0
        else:
            mask[1, feed.length - feed.padding :] = 0
        if feed.hole is not None and mask[1].sum() > 1:
            mask[1, feed.hole] = 0
    return mask


def _tokens(model: Model, stack: Stack, rng: np.random.Generator, mask: np.ndarray, feed: Feed) -> Inputs:
    parts, dims = stack.embedding.instances, stack.dims
    rows = {read.name: part.parameters(dims)[0].shape[0] for part in parts for read in part.component.inputs()}  # each reads its own table
    given, wanted = {}, model.inputs(stack)
    for name, read in wanted.items():
        if name in rows:
            given[name] = rng.integers(0, rows[name], mask.shape, dtype=np.int64)
        elif read.values == "beginning":  # a first step must bring all of it
            first = mask[:, : feed.pieces[0]].sum(1)
            given[name] = first - first // 4
        elif read.values == "marks":
            given[name] = (rng.random(mask.shape) < 0.2).astype(np.int64)
        elif read.values == "positions":
            given[name] = rng.integers(0, feed.length, (read.shape[0], *mask.shape), dtype=np.int64)
        else:
            given[name] = (rng.random(mask.shape) < 0.2).cumsum(1).astype(np.int64)
    return Inputs(given, mask, {name: wanted[name].shape for name in given})


def _by_longest(component: Component) -> bool:
    """Whether the length of a call changes what its earlier tokens give."""
    inner = [getattr(component, name) for name in type(component).model_fields if axis_of_field(type(component), name)]
    return component.by_longest or any(_by_longest(part) for part in inner if isinstance(part, Component))
