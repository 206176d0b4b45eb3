"""A model's sizes, and what it requires of its config."""

from __future__ import annotations

from specc.diagnostics.finding import fail
from specc.ir.node import Dims, Picture
from specc.resolve.components import build
from specc.resolve.evaluate import evaluate, truth
from specc.resolve.parts import SIZES, Parts
from specc.resolve.unused import check_unused
from specc.resolve.values import describe

MOST_LAYERS = 10_000

def check_requires(parts: Parts) -> None:
    """What a family says it cannot express. Raises SpecError naming it."""
    for require in parts.body.requires:
        if not truth(evaluate(require.condition, parts.scope), require.condition.span):
            parts.report.error("CFG001", f"not supported: {require.otherwise}", require.condition.span)
    parts.report.raise_errors()


def read_dims(parts: Parts) -> Dims:
    """The sizes. Without a `dim` nothing else can be read; a depth of 0 stands for one that is wrong. Raises SpecError."""
    sizes = {name: parts.attempt(lambda name=name: _size(parts, name)) for name in SIZES}
    for name in ("dim", "depth"):
        if name not in parts.body.fields:
            message = f"the model `{parts.definition.name}` states no `{name}`"
            parts.report.error("VAL002", message, parts.definition.name_span, f"add `{name} = ...`")
    if sizes["dim"] is None:
        parts.attempt(lambda: check_unused(parts))
        parts.report.raise_errors()
    dims = Dims(**sizes | {"depth": sizes["depth"] or 0})
    return dims.model_copy(update={"image": _picture(parts, dims)}) if "input" in parts.body.fields else dims


def _picture(parts: Parts, dims: Dims) -> Picture | None:
    """What the model reads instead of text."""
    value, span = parts.value("input"), parts.body.fields["input"].value.span
    picture = parts.attempt(lambda: build(value, ("input",), dims, span, parts.scope).picture())
    for name in ("vocab", "context"):
        if getattr(dims, name) is not None:
            parts.report.error("IMG002", f"a model that reads images has no `{name}`", parts.body.fields[name].path.span)
    if picture is None:
        parts.report.raise_errors()
    return picture


def _size(parts: Parts, name: str) -> int | None:
    value = parts.value(name)
    if value is None and (name not in parts.body.fields or name in ("vocab", "context")):
        return None
    span = parts.body.fields[name].value.span
    if isinstance(value, bool) or not isinstance(value, int):
        raise fail("TYP001", f"`{name}` must be a whole number, and it is {describe(value)}", span)
    if value < 1:
        raise fail("VAL001", f"`{name}` must be greater than 0, and it is {value}", span)
    if name == "depth" and value > MOST_LAYERS:
        raise fail("LIM010", f"{value:,} layers are more than the {MOST_LAYERS:,} that specc takes", span)
    return value
