"""Other values for the fields of components: near ones first, then ones far enough to be seen in any model."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from specc.components.registry import axis_of_field, load, members
from specc.ir.node import Component

FACTORS = (1.5, 1e3, 0.1, 1e6, 1e-3, 1e9, 1e12, 10.0, 1e20)


def fields(component: Component) -> Iterator[tuple[str, ...]]:
    """The paths of every architecture field, those of the components inside it too; its own kind comes first."""
    yield ("kind",)
    yield from _inner(component)


def _inner(component: Component) -> Iterator[tuple[str, ...]]:
    for name in type(component).model_fields:
        if name == "kind" or type(component).role(name) != "architecture":
            continue
        yield (name,)
        value = getattr(component, name)
        if isinstance(value, Component):
            yield from ((name, *rest) for rest in _inner(value))


def value_at(component: Component, path: tuple[str, ...]) -> Any:
    """What stands in a field: a plain value, or a component."""
    for name in path:
        component = getattr(component, name)
    return component


def others(component: Component, path: tuple[str, ...]) -> list[Component]:
    """The component with another value in one field, once for each candidate. Raises nothing: what does not validate is left out."""
    return list(_others(component, path))


def _others(component: Component, path: tuple[str, ...]) -> Iterator[Component]:
    name, *rest = path
    if name == "kind":
        yield from _siblings(component)
        return
    value = getattr(component, name)
    found = others(value, tuple(rest)) if rest else _values(component, name, value)
    for other in found:
        try:
            yield component.replaced(**{name: other})
        except ValueError:  # a value out of the field's range
            continue


def _values(component: Component, name: str, value: Any) -> Iterator[Any]:
    if value is None:
        return
    if isinstance(value, Component):
        yield from _siblings(value)
    else:
        yield from _plain(value, _choices(type(component).model_fields[name].annotation))
    optional = NoneType in get_args(type(component).model_fields[name].annotation)
    if optional or axis_of_field(type(component), name) is not None:
        yield None


def _choices(annotation: Any) -> list[Any]:
    """The words that a field chooses from, also where they stand in a tuple or beside None."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [word for part in get_args(annotation) for word in _choices(part)]


def _plain(value: Any, choices: list[Any]) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int():
            yield from dict.fromkeys(
                n for n in (round(1.5 * value), value + 1, value + 2, value - 1, value - 2, 4 * value, 1) if n != value
            )
        case float():
            yield from (factor * value for factor in FACTORS) if value else (1.0, -0.5, 1e3)
        case str():
            yield from (choice for choice in choices if choice != value)
        case tuple() if choices:
            # all of them, or those that mean something without the last, which may be a part's that is not there
            yield from [()] if value else (tuple(choices), tuple(choices[:-1]))
        case (int() as first, int() as second):  # rows and columns: as many cells otherwise laid out come first
            yield from ((n, first * second // n) for n in range(1, first * second + 1) if first * second % n == 0 and n != first)
            yield from ((first + n, second + m) for n, m in ((1, 0), (0, 1), (1, 1)))
        case (int(), int(), int()):  # shares of a whole: one gives to another
            for giver, taker in permutations(range(3), 2):
                if value[giver]:
                    yield tuple(n - (at == giver) + (at == taker) for at, n in enumerate(value))
        case tuple():
            yield from (tuple(changed) for changed in zip(*(_plain(item, []) for item in value), strict=False))


def _siblings(component: Component) -> Iterator[Component]:
    """The other kinds of its axis that need nothing which it does not have."""
    own = {name: getattr(component, name) for name in type(component).model_fields if name != "kind"}
    for kind in members(component.axis):
        if kind in (component.kind, *component.alike):
            continue
        cls = load(component.axis, kind)
        try:
            yield cls(**{name: value for name, value in own.items() if name in cls.model_fields})
        except ValueError:  # it needs a field of its own
            continue
