"""What the front end would say against a model that was changed in the IR."""

from __future__ import annotations

from collections.abc import Iterator

from specc.ir.model import Model
from specc.ir.node import Component, Dims
from specc.ir.wiring import Add, Call, Concat, Insert, Scale, Wire


def problems(model: Model) -> Iterator[str]:
    """Every reason why the model cannot be."""
    stack = model.stack
    for layer in stack.layers:
        for part in layer.instances:
            yield from _findings(part.component, part.dims(stack.dims))
        served = [part.component for part in layer.instances if hasattr(part.component, "head_dim")]
        yield from (found.message for found in layer.position.check_beside(served))
        yield from _findings(layer.position, stack.dims)
        yield from _findings(layer.mask, stack.dims)
        if not stack.padded and (layer.mask.causal or layer.mask.inputs()):
            yield f"`{layer.mask.kind}` is for text, and the model reads images"
    for part in (*stack.embedding.instances, *model.heads):
        yield from _findings(part.component, part.dims(stack.dims))
        if getattr(part.component, "of_images", None) is stack.padded:
            yield f"`{part.component.kind}` cannot stand in a model that reads {'text' if stack.padded else 'images'}"
    if stack.final_norm is not None:
        yield from _findings(stack.final_norm, stack.dims)
    if stack.causal and any(getattr(i.component, "whole_rows", False) for i in stack.embedding.instances):
        yield "a part of the embedding reads whole rows, and a causal stack goes on step by step"
    yield from _formula(stack.embedding.value, model)
    for head in model.heads:
        wanted = getattr(head.component, "width", None) or stack.dims.dim
        tables = [i.component.width for i in stack.embedding.instances if i.path == "embed.tokens" and hasattr(i.component, "vocab")]
        if getattr(head.component, "tied", False) and tables != [wanted]:
            yield f"a tied head of width {wanted} needs a token table as wide"


def _findings(component: Component, dims: Dims) -> Iterator[str]:
    for found in component.check(dims):
        yield found.message
    for name in type(component).model_fields:
        if isinstance(inner := getattr(component, name), Component):
            yield from _findings(inner, dims)


def _formula(wire: Wire, model: Model) -> Iterator[str]:
    """Whether the embedding's parts fit each other and the stack."""
    found: list[str] = []
    width = _width(wire, model, found)
    yield from found
    if not found and width != model.stack.dims.dim:
        yield f"the embedding is {width} wide, and the model {model.stack.dims.dim}"


def _width(wire: Wire, model: Model, found: list[str]) -> int:
    match wire:
        case Call(instance=path, inputs=inputs):
            part = model.stack.embedding.instance(path)
            widths = [_width(i, model, found) for i in inputs]
            if getattr(part.component, "takes", 1) != len(inputs):
                found.append(f"`{path}` does not take {len(inputs)} values")
            if widths and widths[0] != part.width:
                found.append(f"`{path}` is made for width {part.width}, and {widths[0]} comes in")
            return getattr(part.component, "width", part.width)
        case Add(terms=terms) | Concat(parts=terms):
            return _one(terms, model, found)
        case Insert(what=what, into=into):
            return _one((into, what), model, found)
        case Scale(of=of):
            return _width(of, model, found)
    raise AssertionError(wire)


def _one(terms: tuple[Wire, ...], model: Model, found: list[str]) -> int:
    widths = [_width(term, model, found) for term in terms]
    if len(set(widths)) > 1:
        found.append(f"values {' and '.join(map(str, dict.fromkeys(widths)))} wide are joined")
    return widths[0]
