"""What a place of a text came to in the typed model: the value of a field, the component of a call, its instances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from specc.diagnostics.finding import SpecError
from specc.ir.model import Instance, Stack
from specc.ir.node import Component, Dims
from specc.resolve.components import build
from specc.resolve.evaluate import evaluate
from specc.resolve.model import Resolved
from specc.resolve.reach import parts
from specc.resolve.scope import Scope
from specc.resolve.work import Work
from specc.syntax import tree
from specc.tools.editor.analysis import Analysis
from specc.tools.editor.outline import Frame


@dataclass(frozen=True, slots=True)
class Placed:
    """An instance with its stack, and the layers that it stands in; none outside of the layers."""

    instance: Instance
    stack: Stack
    layers: tuple[int, ...] = ()

    @property
    def parameters(self):
        return self.instance.parameters(self.stack.dims)


def model_at(analysis: Analysis, frame: Frame) -> Resolved | None:
    """The resolved model around a place; None where there is none, or it has errors."""
    model = frame.section("model")
    return analysis.models.get(model.name) if model is not None else None


def value_of(analysis: Analysis, frame: Frame, name: str) -> Any:
    """The value of a field in the model, or the layer, around a place. Raises LookupError where it has none."""
    resolved = model_at(analysis, frame)
    around = _around(resolved, frame) if resolved else None
    if around is None or name not in around[0].fields:
        raise LookupError(name)
    scope = around[0]
    try:
        return scope.field(name, scope.fields[name].span)
    except SpecError:
        raise LookupError(name) from None


def component_at(analysis: Analysis, frame: Frame, offset: int, axes: tuple[str, ...]) -> Component | None:
    """The component of the call, or the bare word, that begins at an offset, with every default filled in."""
    resolved = model_at(analysis, frame)
    around = _around(resolved, frame) if resolved else None
    if around is None or not axes:
        return None
    scope, dims = around
    for written in _written(resolved, analysis):
        if not written.value.span.start <= offset < written.value.span.end:
            continue
        for expr in parts(written.value):
            if isinstance(expr, (tree.Call, tree.Name)) and expr.span.start == offset:
                try:
                    return build(evaluate(expr, scope), axes, dims, expr.span, scope)
                except SpecError:
                    return None
    return None


def placed(resolved: Resolved, component: Component, field: str) -> list[Placed]:
    """Where a component stands in the model: every instance of that field which is equal to it."""
    found: list[Placed] = []
    for stack in resolved.model.stacks:
        found += [Placed(i, stack) for i in stack.embedding.instances if i.component == component]
        layers: dict[int, tuple[Instance, list[int]]] = {}
        for number, layer in enumerate(stack.layers):
            for instance in layer.instances:
                if instance.path.partition(".")[0] == field and instance.component == component:
                    layers.setdefault(id(instance), (instance, []))[1].append(number)
        found += [Placed(instance, stack, tuple(numbers)) for instance, numbers in layers.values()]
    heads = [Placed(h, resolved.model.stack) for h in resolved.model.heads if h.component == component]
    return found + heads


def _around(resolved: Resolved, frame: Frame) -> tuple[Scope, Dims] | None:
    """The scope and the sizes of the section around a place: of a stack, or of the first layer of a kind."""
    section = frame.section("encoder", "decoder")
    tower = resolved.towers.get(section.kind) if section is not None else None
    scope, dims = (resolved.scope, resolved.model.stack.dims) if tower is None else (tower.scope, tower.dims)
    scope.work = Work()  # what was spent on checking is another matter
    layer = frame.section("layer")
    if layer is None:
        return scope, dims
    body = resolved.body if tower is None else tower.body
    stack = resolved.model.stack if tower is None else next(s for s in resolved.model.stacks if s.name == section.kind)
    labels = [one.label for one in stack.layers]
    if layer.name not in body.layers or layer.name not in labels:
        return None
    fields = {str(s.path): s for s in body.layers[layer.name].body if isinstance(s, tree.Field)}
    return scope.over(fields, labels.index(layer.name)), dims


def _written(resolved: Resolved, analysis: Analysis) -> Iterator[tree.Field]:
    """Every field of the model that stands in this text."""
    waiting: list[tree.Statement] = [*resolved.body.fields.values(), *resolved.body.layers.values(), *resolved.body.stacks.values()]
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, tree.Field):
            if statement.span.source is analysis.source:
                yield statement
        elif isinstance(statement, (tree.Layer, tree.Stack)):
            waiting += statement.body
