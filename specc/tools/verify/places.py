"""Where components stand in a model, each place with a way to put another one there in all layers of a kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from specc.ir.model import Instance, Layer, Model
from specc.ir.node import Component
from specc.ir.wiring import Add, Call, Scale, Wire

Change = Callable[[Component], Component]


@dataclass(frozen=True, slots=True)
class Place:
    """A component under the name that it is reported by. Where layers of a kind differ, it is the first one's."""

    name: str
    component: Component
    put: Callable[[Change], Model]
    beside: Component | None = None  # of a position scheme: the first sublayer that it serves


def places(model: Model) -> Iterator[Place]:
    """Every place of every stack."""
    for at in range(len(model.stacks)):
        yield from _stack_places(model, at)
    for number, head in enumerate(model.heads):
        yield Place(head.key, head.component, lambda change, n=number: model.replaced(heads=_changed(model.heads, n, change)))


def _stack_places(model: Model, at: int) -> Iterator[Place]:
    stack = model.stacks[at]
    for number, part in enumerate(stack.embedding.instances):

        def put_embedding(change: Change, number: int = number) -> Model:
            parts = _changed(stack.embedding.instances, number, change)
            return _with_stack(model, at, embedding=stack.embedding.replaced(instances=parts))

        yield Place(stack.prefix + part.key, part.component, put_embedding)
    yield from _layer_places(model, at)
    if stack.final_norm is not None:
        yield Place(f"{stack.prefix}final_norm", stack.final_norm, lambda change: _with_stack(model, at, final_norm=change(stack.final_norm)))


def _layer_places(model: Model, at: int) -> Iterator[Place]:
    stack = model.stacks[at]
    labels = {layer.label: layer for layer in reversed(stack.layers)}
    for label in dict.fromkeys(layer.label for layer in stack.layers):
        first, prefix = labels[label], stack.prefix + (f"{label}." if len(labels) > 1 else "")

        def put(change: Callable[[Layer], Layer], label: str = label) -> Model:
            return _with_stack(model, at, layers=tuple(change(la) if la.label == label else la for la in stack.layers))

        mixing = [i.component for i in first.instances if i.memory is None and i.component.state(stack.dims)]
        if mixing:  # what reads other tokens reads these too
            yield Place(f"{prefix}mask", first.mask, lambda change, put=put: put(lambda la: la.replaced(mask=change(la.mask))))
        if mixing and first.kv_from is None:  # where keys are an earlier layer's, its scheme and this one are one
            together = {label, *(layer.label for layer in stack.layers if layer.kv_from == label)}

            def put_position(change: Change, together: set[str] = together) -> Model:
                layers = (la.replaced(position=change(la.position)) if la.label in together else la for la in stack.layers)
                return _with_stack(model, at, layers=tuple(layers))

            yield Place(f"{prefix}position", first.position, put_position, mixing[0])
        for number, part in enumerate(first.instances):

            def put_part(change: Change, put=put, number: int = number) -> Model:
                return put(lambda la: la.replaced(instances=_changed(la.instances, number, change)))

            yield Place(prefix + part.key, part.component, put_part)


def _changed(instances: tuple[Instance, ...], number: int, change: Change) -> tuple[Instance, ...]:
    return tuple(i.replaced(component=change(i.component)) if n == number else i for n, i in enumerate(instances))


def _with_stack(model: Model, at: int, **changes) -> Model:
    return model.replaced(stacks=tuple(stack.replaced(**changes) if n == at else stack for n, stack in enumerate(model.stacks)))


# ---- constants of the wiring


def factors(model: Model) -> Iterator[tuple[str, float, Callable[[float], Model]]]:
    """Every constant that a formula multiplies by: its name, its value, and the model with another one."""
    for at in range(len(model.stacks)):
        yield from _stack_factors(model, at)


def _stack_factors(model: Model, at: int) -> Iterator[tuple[str, float, Callable[[float], Model]]]:
    stack = model.stacks[at]
    for value in dict.fromkeys(_factors(stack.embedding.value)):

        def in_embedding(other: float, value: float = value) -> Model:
            return _with_stack(model, at, embedding=stack.embedding.replaced(value=_scaled(stack.embedding.value, value, other)))

        yield f"{stack.prefix}embed: {value:g} *", value, in_embedding
    for block in dict.fromkeys(layer.block for layer in stack.layers):
        for value in dict.fromkeys(f for assign in block.body for f in _factors(assign.value)):

            def in_block(other: float, value: float = value, block=block) -> Model:
                body = tuple(assign.replaced(value=_scaled(assign.value, value, other)) for assign in block.body)
                changed = block.replaced(body=body)
                return _with_stack(model, at, layers=tuple(la.replaced(block=changed) if la.block == block else la for la in stack.layers))

            yield f"{stack.prefix}{block.name}: {value:g} *", value, in_block


def _factors(wire: Wire) -> Iterator[float]:
    match wire:
        case Call(inputs=parts) | Add(terms=parts):
            for part in parts:
                yield from _factors(part)
        case Scale(factor=factor, of=of):
            yield factor
            yield from _factors(of)


def _scaled(wire: Wire, old: float, new: float) -> Wire:
    """The formula with one constant exchanged."""
    match wire:
        case Call():
            return wire.replaced(inputs=tuple(_scaled(part, old, new) for part in wire.inputs))
        case Add():
            return wire.replaced(terms=tuple(_scaled(part, old, new) for part in wire.terms))
        case Scale():
            return wire.replaced(factor=new if wire.factor == old else wire.factor, of=_scaled(wire.of, old, new))
    return wire
