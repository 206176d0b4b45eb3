"""Which layer stands where: the `layers` of a model, spelt out to its depth."""

from __future__ import annotations

from typing import Any

from specc.diagnostics.finding import Diagnostic, SpecError, fail
from specc.resolve.fields import Body
from specc.resolve.scope import Scope
from specc.resolve.values import LayerRef, Repeated, Run, describe
from specc.resolve.work import Work
from specc.source import Span
from specc.syntax import tree


def layout(body: Body, scope: Scope, depth: int, model: tree.Model) -> list[LayerRef]:
    """Every layer, `layer` where the model names none. Raises SpecError unless they sum to the depth."""
    if "layers" not in body.fields:
        if own := [layer for label, layer in body.layers.items() if label not in body.elsewhere]:
            first = own[0]
            raise fail(
                "VAL002",
                "the model has layer sections, and no `layers` says where they stand",
                first.span,
                f"add `layers = [{depth} * {first.name}]`, for one",
            )
        return [LayerRef("layer")] * depth
    span = body.fields["layers"].value.span
    layers = _spell(scope.field("layers", span), depth, span, scope.work)
    if len(layers) != depth:
        raise fail("SHP006", f"`layers` names {len(layers)} layers, and the depth is {depth}", span)
    stated = {layer.label for layer in layers} | body.elsewhere
    unused = [] if model.parameters else [label for label in body.layers if label not in stated]  # of a family some config may use it
    if unused:
        raise SpecError(Diagnostic("LNT003", f"the layer `{label}` is never used", body.layers[label].span) for label in unused)
    return layers


def sets(layers: list[LayerRef]) -> tuple[int, ...]:
    """For each layer the number of its set of weights, counted as they come; empty where each has its own."""
    known: dict[tuple, int] = {}
    numbers = tuple(
        known.setdefault((place,) if layer.shared is None else (layer.label, layer.shared), len(known)) for place, layer in enumerate(layers)
    )
    return numbers if len(known) < len(layers) else ()


def _spell(value: Any, depth: int, span: Span, work: Work) -> list[LayerRef]:
    work.spend(1, span)
    match value:
        case LayerRef():
            return [value]
        case Run(count=count, layer=layer):
            return _spell(layer, depth, span, work) * count
        case Repeated(items=items):
            turn = _items(list(items), depth, span, work)
            if not turn:
                raise fail("SHP006", "`repeat` of no layers fills nothing", span)
            return (turn * (depth // len(turn) + 1))[:depth]
        case list():
            return _items(value, depth, span, work)
    raise fail("TYP011", f"`layers` is made of layers, and this is {describe(value)}", span)


def _items(items: list[Any], depth: int, span: Span, work: Work) -> list[LayerRef]:
    layers: list[LayerRef] = []
    for number, item in enumerate(items):
        if isinstance(item, Repeated) and number != len(items) - 1:
            raise fail("SHP006", "`repeat` fills what is left, so it stands last", span)
        layers += _spell(item, max(depth - len(layers), 0), span, work)
        if len(layers) > 10_000:
            raise fail("LIM010", "a model may have 10,000 layers", span)
    return layers
