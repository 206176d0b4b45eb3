"""The comparisons: full pass, padded batch, cached steps, each back end against the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specc.ir.model import Model
from specc.ir.node import Component
from specc.tools.tolerance import TOLERANCE, distance
from specc.tools.verify.inputs import Inputs, inputs, pieces
from specc.tools.verify.perturb import apart

if TYPE_CHECKING:
    from numpy import ndarray


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: what was computed, by whom, against whom, and the largest error."""

    check: str
    got: str
    want: str
    error: float
    tolerance: float = TOLERANCE["float32"]

    @property
    def ok(self) -> bool:
        return self.error <= self.tolerance


def compared(model: Model, length: int, torch: Any, onnx: Any, published: Any = None) -> Iterator[Row]:
    """Every comparison that means something for this model."""
    whole, padded = inputs(model, length, False), inputs(model, length, True, seed=1)
    images = not model.stack.padded
    for check, given in (("own size" if images else "full pass", whole), ("another size" if images else "padded batch", padded)):
        mine, theirs = torch.run(given), onnx.run(given)
        yield Row(check, onnx.name, torch.name, apart(theirs, mine, given, least=1.0))
        if published is not None:
            reference = published.run(given)
            yield Row(check, torch.name, published.name, apart(mine, reference, given, least=1.0))
            yield Row(check, onnx.name, published.name, apart(theirs, reference, given, least=1.0))
    if length > 1 and not images and not _anywhere(model, "by_longest") and not _anywhere(model, "by_columns"):
        yield Row("padded batch", torch.name, "each row alone", _rows_apart(torch, padded, torch.run(padded)))
    yield from _cached(model, padded, torch, onnx)


def _rows_apart(torch: Any, padded: Inputs, together: dict[str, ndarray]) -> float:
    """Padding must not change a row: each one computed alone, without it."""
    worst = 0.0
    for number, real in enumerate(padded.mask.astype(bool)):
        for name, alone in torch.run(padded.row(number)).items():
            got = together[name][number]
            per_token = got.ndim == 2 or name in padded.scalars
            worst = max(worst, distance(got[real] if per_token else got, alone[0], least=1.0))
    return worst


def _cached(model: Model, padded: Inputs, torch: Any, onnx: Any) -> Iterator[Row]:
    """Tokens in uneven pieces; only where a model keeps something, and gives every token a value of its own."""
    stack = model.stack
    kept = stack.causal and any(i.component.state(stack.dims) for layer in stack.layers for i in layer.instances)
    if not kept or padded.length < 2 or any("sequence" not in shape for shape in model.outputs.values()):
        return
    turns = pieces(padded.length)
    mine, theirs = torch.steps(padded, turns), onnx.steps(padded, turns)
    if _anywhere(model, "by_longest"):  # a longer call turns earlier tokens otherwise: there is no full pass that the steps should equal
        yield Row("cached steps", onnx.name, torch.name, apart(theirs, mine, padded, least=1.0))
        return
    full = torch.run(padded)
    yield Row("cached steps", torch.name, "its full pass", apart(mine, full, padded, least=1.0))
    yield Row("cached steps", onnx.name, f"{torch.name}'s full pass", apart(theirs, full, padded, least=1.0))


def _anywhere(model: Model, trait: str) -> bool:
    """Whether some component of the model has a trait: by_longest, by_columns."""

    def inside(component: Component) -> bool:
        held = (getattr(component, name) for name in type(component).model_fields)
        return getattr(component, trait) or any(inside(part) for part in held if isinstance(part, Component))

    layers = [layer for stack in model.stacks for layer in stack.distinct]
    parts = [c for layer in layers for c in (layer.position, layer.mask, *(i.component for i in layer.instances))]
    return any(inside(part) for part in parts)
