"""What a place of a text came to in the typed model: the value of a field, the component of a call, its instances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from specc.diagnostics.finding import SpecError
from specc.ir.model import Instance, Stack
from specc.ir.node import Component
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
    scope = _scope(resolved, frame) if resolved else None
    if scope is None or name not in scope.fields:
        raise LookupError(name)
    try:
        return scope.field(name, scope.fields[name].span)
    except SpecError:
        raise LookupError(name) from None


def component_at(analysis: Analysis, frame: Frame, offset: int, axes: tuple[str, ...]) -> Component | None:
    """The component of the call, or the bare word, that begins at an offset, with every default filled in."""
    resolved = model_at(analysis, frame)
    scope = _scope(resolved, frame) if resolved else None
    if scope is None or not axes:
        return None
    for written in _written(resolved, analysis):
        if not written.value.span.start <= offset < written.value.span.end:
            continue
        for expr in parts(written.value):
            if isinstance(expr, (tree.Call, tree.Name)) and expr.span.start == offset:
                try:
                    return build(evaluate(expr, scope), axes, resolved.model.stack.dims, expr.span, scope)
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


def _scope(resolved: Resolved, frame: Frame) -> Scope | None:
    """The scope of the section around a place; that of the first layer of a kind."""
    scope = resolved.scope
    scope.work = Work()  # what was spent on checking is another matter
    layer = frame.section("layer")
    if layer is None:
        return scope
    section = resolved.body.layers.get(layer.name)
    labels = [one.label for one in resolved.model.stack.layers]
    if section is None or layer.name not in labels:
        return None
    fields = {str(s.path): s for s in section.body if isinstance(s, tree.Field)}
    return scope.over(fields, labels.index(layer.name))


def _written(resolved: Resolved, analysis: Analysis) -> Iterator[tree.Field]:
    """Every field of the model that stands in this text."""
    sections = [resolved.body.fields.values()]
    sections += [
        (s for s in one.body if isinstance(s, tree.Field)) for one in (*resolved.body.layers.values(), *resolved.body.stacks.values())
    ]
    yield from (field for fields in sections for field in fields if field.span.source is analysis.source)
