"""What the front end would say against a model that was changed in the IR."""

from __future__ import annotations

from collections.abc import Iterator

from specc.ir.model import TOKENS, Model, Stack
from specc.ir.node import Component, Dims
from specc.ir.shared_keys import findings
from specc.ir.wiring import Add, Call, Concat, Insert, Scale, Wire


def problems(model: Model) -> Iterator[str]:
    """Every reason why the model cannot be."""
    for stack in model.stacks:
        yield from _of_stack(stack)
    yield from _between(model)
    for head in model.heads:
        yield from _findings(head.component, head.dims(model.stack.dims))
        wanted = getattr(head.component, "width", None) or model.stack.dims.dim
        tables = [i.component.width for i in model.stack.embedding.instances if i.path == "embed.tokens" and hasattr(i.component, "vocab")]
        if getattr(head.component, "tied", False) and tables != [wanted]:
            yield f"a tied head of width {wanted} needs a token table as wide"


def _of_stack(stack: Stack) -> Iterator[str]:
    for layer in stack.layers:
        for part in layer.instances:
            yield from _findings(part.component, part.dims(stack.dims))
            if part.memory is not None:
                yield from _across(part.component)
        served = [part.component for part in layer.served]
        yield from (found.message for found in layer.position.check_beside(served))
        yield from _findings(layer.position, stack.dims)
        yield from _findings(layer.mask, stack.dims)
        if not stack.padded and (layer.mask.causal or layer.mask.inputs()):
            yield f"`{layer.mask.kind}` is for text, and the model reads images"
    yield from (found.message for _, found in findings(stack))
    for part in stack.embedding.instances:
        yield from _findings(part.component, part.dims(stack.dims))
        if getattr(part.component, "of_images", None) is stack.padded:
            yield f"`{part.component.kind}` cannot stand in a model that reads {'text' if stack.padded else 'images'}"
    if stack.final_norm is not None:
        yield from _findings(stack.final_norm, stack.dims)
    parts = (*stack.embedding.instances, *(part for layer in stack.distinct for part in layer.instances))
    if stack.causal and any(getattr(part.component, "whole_rows", False) for part in parts):
        yield "a part reads whole rows, and a causal stack goes on step by step"
    if not stack.padded and any(part.component.inputs() for layer in stack.distinct for part in layer.instances):
        yield "a sublayer takes an input of texts, and the model reads images"
    yield from _formula(stack.embedding.value, stack)


def _across(component: Component) -> Iterator[str]:
    """What is wrong with a sublayer that reads the encoder's output."""
    if not component.crosses:
        yield f"`{component.kind}` cannot read the encoder's output"
    else:
        yield from (found.message for found in component.check_across())


def _between(model: Model) -> Iterator[str]:
    """What an encoder and a decoder need to be to each other."""
    if model.encoder is None:
        return
    if not model.stack.causal:
        yield "a decoder does not see later tokens"
    tables = [i.component for stack in model.stacks for i in stack.embedding.instances if i.key == TOKENS]
    if model.shared_tokens and len({(table.kind, getattr(table, "vocab", 0), table.width) for table in tables}) > 1:
        yield "the encoder and the decoder share one token table"
    if any(wanted.name != "input_ids" for stack in model.stacks for wanted in model.inputs(stack).values()):
        yield "an encoder-decoder takes tokens only"
    for head in model.heads:
        if not all("sequence" in head.component.output_shape(name, model.stack.dims) for name in head.component.outputs):
            yield "a head that reads a whole target cannot be compiled yet"


def _findings(component: Component, dims: Dims) -> Iterator[str]:
    for found in component.check(dims):
        yield found.message
    for name in type(component).model_fields:
        if isinstance(inner := getattr(component, name), Component):
            yield from _findings(inner, dims)


def _formula(wire: Wire, stack: Stack) -> Iterator[str]:
    """Whether the embedding's parts fit each other and the stack."""
    found: list[str] = []
    width = _width(wire, stack, found)
    yield from found
    if not found and width != stack.dims.dim:
        yield f"the embedding is {width} wide, and the model {stack.dims.dim}"


def _width(wire: Wire, stack: Stack, found: list[str]) -> int:
    match wire:
        case Call(instance=path, inputs=inputs):
            part = stack.embedding.instance(path)
            widths = [_width(i, stack, found) for i in inputs]
            if getattr(part.component, "takes", 1) != len(inputs):
                found.append(f"`{path}` does not take {len(inputs)} values")
            if widths and widths[0] != part.width:
                found.append(f"`{path}` is made for width {part.width}, and {widths[0]} comes in")
            return getattr(part.component, "width", part.width)
        case Add(terms=terms) | Concat(parts=terms):
            return _one(terms, stack, found)
        case Insert(what=what, into=into):
            return _one((into, what), stack, found)
        case Scale(of=of):
            return _width(of, stack, found)
    raise AssertionError(wire)


def _one(terms: tuple[Wire, ...], stack: Stack, found: list[str]) -> int:
    widths = [_width(term, stack, found) for term in terms]
    if len(set(widths)) > 1:
        found.append(f"values {' and '.join(map(str, dict.fromkeys(widths)))} wide are joined")
    return widths[0]
