"""Where a lint rule points: the argument, the field or the model's name that decides what it is about."""

from __future__ import annotations

from collections.abc import Iterator

from specc.diagnostics.finding import Diagnostic
from specc.ir.model import Instance, Layer
from specc.resolve.model import Resolved
from specc.source import Span
from specc.syntax import tree

FAR = 10  # names that lead to one another before the search ends


def layers(resolved: Resolved) -> Iterator[Layer]:
    """The layers of a model, those that are one object once."""
    yield from {id(layer): layer for layer in resolved.model.stack.layers}.values()


def parts(resolved: Resolved) -> Iterator[tuple[Layer, Instance]]:
    """The sublayers of all layers, alike ones once."""
    seen = set()
    for layer in layers(resolved):
        for part in layer.instances:
            if (key := (layer.label, part.path, id(part.component))) not in seen:
                seen.add(key)
                yield layer, part


def place(resolved: Resolved, path: str, argument: str = "", layer: Layer | None = None) -> Span:
    """Where `path` is stated: in the layer's section, else in the model; the argument where it is written out there."""
    fields = dict(resolved.body.fields)
    section = resolved.body.layers.get(layer.label) if layer is not None else None
    if section is not None:
        fields |= {str(s.path): s for s in section.body if isinstance(s, tree.Field)}
    field = fields.get(path) or fields.get(path.partition(".")[0])
    if field is None:
        return resolved.definition.name_span
    value = field.value
    for _ in range(FAR):
        if not isinstance(value, tree.Name) or value.id not in fields or fields[value.id].value is value:
            break
        value = fields[value.id].value
    for given in value.arguments if isinstance(value, tree.Call) else ():
        if given.name == argument:
            return given.span
    return value.span if value.span.source is field.span.source else field.value.span


def warning(resolved: Resolved, code: str, message: str, span: Span, help: str | None = None) -> Diagnostic:
    """A finding; where the text to blame is another model's, it says in which model it shows."""
    own = resolved.definition
    inherited = span.source is not own.span.source or not own.span.start <= span.start <= own.span.end
    notes = ((own.name_span, f"in the model `{own.name}`, which takes this over"),) if inherited else ()
    return Diagnostic(code, message, span, help, "warning", notes)
