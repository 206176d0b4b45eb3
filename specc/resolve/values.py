"""What expressions evaluate to, besides numbers, strings, booleans, none and lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specc.source import Span
from specc.syntax import tree

if TYPE_CHECKING:
    from specc.resolve.scope import Scope


@dataclass(frozen=True, slots=True)
class Symbol:
    """A bare word that no one bound: a component without arguments, an option, a role."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Constructor:
    """`rope(theta: 10_000)`: a component not yet known to fit, with its arguments unevaluated in the scope they stand in."""

    name: str
    arguments: tuple[tree.Argument, ...]
    scope: Scope
    span: Span


@dataclass(frozen=True, slots=True)
class LayerRef:
    """A layer section by its label. shared: the number of the one set of weights that all its layers of this number have."""

    label: str
    shared: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """`count * layer`"""

    count: int
    layer: LayerRef


@dataclass(frozen=True, slots=True)
class Repeated:
    """`repeat [...]`"""

    items: tuple[Any, ...]


@dataclass(slots=True)
class Record:
    """A published config or a part of it: null equals absent, and every field that is read is remembered."""

    values: dict[str, Any]
    read: set[str] = field(default_factory=set)
    _wrapped: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def get(self, name: str) -> Any:
        self.read.add(name)
        if name not in self._wrapped:
            self._wrapped[name] = wrap(self.values.get(name))
        return self._wrapped[name]


@dataclass(frozen=True, slots=True)
class Source:
    """A tensor expression of a weights map: name alternatives, or an operation on another source."""

    operation: str
    names: tuple[str, ...] = ()
    of: Source | None = None
    order: tuple[str, ...] = ()
    groups: int = 1
    flat: bool = False


def wrap(value: Any) -> Any:
    """JSON -> value of the language."""
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return [wrap(v) for v in value]
    return value


def describe(value: Any) -> str:
    """A value in the words of a message."""
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case str():
            return f'the string "{value if len(value) <= 60 else value[:60] + "..."}"'
        case int() | float():
            return f"the number {value}"
        case list() | tuple():
            return "a list"
        case Symbol():
            return f"`{value.name}`"
        case Constructor():
            return f"`{value.name}(...)`"
        case LayerRef():
            return f"the layer `{value.label}`"
        case Record():
            return "a record"
        case _:
            return "a layout"
