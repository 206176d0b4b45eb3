"""Which places of a model share one printed class, and what each place passes to it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from specc.backends.torch.numbers import Owner
from specc.backends.torch.view import View
from specc.ir.node import Component, Dims


@dataclass(slots=True)
class Group:
    """The places (of any hashable kind) whose components one class or function prints."""

    places: list[Hashable]
    components: list[Component]
    beside: list[Component] = field(default_factory=list)
    owner: Owner = field(default_factory=lambda: Owner(absorbs=True))
    name: str = ""

    def view(self, page: Any, dims: Dims) -> View:
        return View(page, tuple(self.components), self.owner, dims, name=self.name, beside=tuple(self.beside))

    def define(self, print_: Callable[[View], str], page: Any, dims: Dims) -> str:
        """The definition's text. Printed twice: the first time tells which numbers it has to be given."""
        print_(self.view(page, dims))
        return print_(self.view(page, dims))

    def passed(self, places: Iterable[Hashable]) -> dict[str, tuple[int | float, ...]]:
        """What the definition is given at some of its places, in their order."""
        at = [self.places.index(place) for place in places]
        return {name: tuple(values[i] for i in at) for name, values in self.owner.arguments.items()}


def gather(items: Iterable[tuple[Hashable, Hashable, Component, Component | None]]) -> dict[Hashable, Group]:
    """Groups by key; an item is (key, place, component, the component beside it)."""
    groups: dict[Hashable, Group] = {}
    for key, place, component, beside in items:
        group = groups.setdefault(key, Group([], []))
        group.places.append(place)
        group.components.append(component)
        if beside is not None:
            group.beside.append(beside)
    return groups
