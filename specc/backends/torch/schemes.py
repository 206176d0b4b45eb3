"""What the position schemes of a stack's layers print: functions, tables, terms of the scores, and the modules that hold their parameters."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from specc.backends.torch.groups import Group, gather
from specc.backends.torch.numbers import Owner
from specc.backends.torch.view import View, camel, structure
from specc.ir.model import Instance

if TYPE_CHECKING:
    from specc.backends.torch.layers import Layers

FUNCTIONS = ("tables", "rotate", "bias", "score")
CLASSES = ("module", "holder")  # what an attention holds, and what all layers of a scheme share


@dataclass
class Schemes:
    """A list "for each distinct layer" is in the order of `layers.distinct`."""

    layers: Layers

    @cached_property
    def groups(self) -> dict[Hashable, Group]:
        """The schemes; a place is (number of the distinct layer, path), beside it stands the attention."""
        return gather(
            (structure(layer.position), (n, part.path), layer.position, part.component)
            for n, layer in enumerate(self.layers.distinct)
            for part in self.layers.mixing(layer)
        )

    def define(self) -> None:
        """The functions and classes of every scheme; those that read alike are one."""
        self.suffixes: dict[tuple[str, Hashable], str] = {}
        self.given: dict[tuple[str, Hashable], Owner] = {}
        for part in (*FUNCTIONS, *CLASSES):
            texts = {key: self._defined(part, group) for key, group in self.groups.items()}
            several = len({text for text in texts.values() if text}) > 1
            named: dict[str, str] = {}
            for key, group in self.groups.items():
                label = self.layers.distinct[group.places[0][0]].label
                own = f"_{self.layers.stack.name}" if self.layers.apart else ""
                plain = own + (f"_{label}" if several else "") if texts[key] else ""
                if self.layers.page.taken(
                    "position", self._defined(part, group, plain)
                ):  # by another stack or kind of layer, of other sizes
                    plain = f"_{self.layers.stack.name or label}{plain}"
                suffix = self.suffixes[part, key] = named.setdefault(texts[key], plain)
                self.layers.page.define("position", self._defined(part, group, suffix))
                self.given[part, key] = group.owner

    def _defined(self, part: str, group: Group, suffix: str = "") -> str:
        group.name, group.owner = self._named(part, group, suffix), Owner(absorbs=True)
        return group.define(lambda c: c.macro(f"{part}_definition"), self.layers.page, self.layers.stack.dims).strip()

    def _named(self, part: str, group: Group, suffix: str) -> str:
        """What follows the name of a function, or the whole name of a class."""
        if part in FUNCTIONS:
            return suffix
        return group.view(self.layers.page, self.layers.stack.dims).macro(f"{part}_title").strip() + camel(suffix)

    def _view(self, part: str, n: int, attention: Instance) -> View:
        position = self.layers.distinct[n].position
        key = structure(position)
        at = self.groups[key].places.index((n, attention.path))
        owner = Owner(arguments={name: (values[at],) for name, values in self.given[part, key].arguments.items()})
        name = self._named(part, self.groups[key], self.suffixes[part, key])
        return View(self.layers.page, (position,), owner, self.layers.stack.dims, name=name, beside=(attention.component,))

    def _each(self, part: str, macro: str, given: Callable[[int], tuple[str, ...]] = lambda n: ()) -> list[str]:
        """For each distinct layer what a macro of its scheme prints, at its first attention; `given` the macro."""
        distinct, mixing = self.layers.distinct, self.layers.mixing
        views = [self._view(part, n, mixing(layer)[0]) if mixing(layer) else None for n, layer in enumerate(distinct)]
        return [view.macro(macro, *given(n)).strip() if view else "" for n, view in enumerate(views)]

    # ---- tables

    @cached_property
    def _each_tables(self) -> list[list[str]]:
        """For each distinct layer the tables of each of its attentions."""
        return [
            [self._view("tables", n, at).macro("tables", self._held(n, at)).strip() for at in self.layers.mixing(layer)]
            for n, layer in enumerate(self.layers.distinct)
        ]

    @cached_property
    def several_tables(self) -> bool:
        """Whether the attentions of some layer, by their widths, need tables of their own."""
        return any(len(set(texts)) > 1 for texts in self._each_tables)

    @cached_property
    def tables(self) -> list[str]:
        """For each distinct layer its tables, empty where it has none; a tuple of them where attentions have their own."""
        if not self.several_tables:
            return [next(iter(texts), "") for texts in self._each_tables]
        return [f"({', '.join(texts)}{',' * (len(texts) == 1)})" if any(texts) else "" for texts in self._each_tables]

    @cached_property
    def name(self) -> str:
        """What layers and attentions call the tables."""
        names = {name for name, tables in zip(self._each("tables", "tables_name"), self.tables, strict=True) if tables}
        return names.pop() if len(names) == 1 else "tables"

    @property
    def contents(self) -> list[str]:
        """What the tables are, in words."""
        found = [text for text, tables in zip(self._each("tables", "tables_are"), self.tables, strict=True) if tables]
        return list(dict.fromkeys(found))

    @property
    def single(self) -> str:
        """The type of one attention's tables."""
        return "Pair" if all(self.tables) else "Pair | None"

    @cached_property
    def argument(self) -> dict[str, str]:
        """What layers are called with, and its type."""
        if not any(self.tables):
            return {}
        pair = "tuple[Pair, ...]" if self.several_tables else "Pair"
        return {self.name: pair if all(self.tables) else f"{pair} | None"}

    def passed(self, n: int, attention: Instance) -> dict[str, str]:
        """What one attention of a layer is given of it, where that is a part."""
        if not self.several_tables:
            return {}
        at = self.layers.mixing(self.layers.distinct[n]).index(attention)
        return {self.name: f"{self.name}[{at}]" if all(self.tables) else f"{self.name}[{at}] if {self.name} else None"}

    # ---- what attentions do with them

    @cached_property
    def rotations(self) -> list[str]:
        return self._each("rotate", "rotate", lambda n: (self.name,))

    @cached_property
    def query_rotations(self) -> list[str]:
        """The same for an attention whose keys are those of an earlier layer, turned there."""
        return self._each("rotate", "rotate", lambda n: (self.name, ("q",)))

    @cached_property
    def biases(self) -> list[str]:
        """What is added to the scores and made once for all layers of a scheme."""
        return self._each("bias", "bias", lambda n: (self._held(n),))

    @cached_property
    def scores(self) -> list[str]:
        """What is added to the scores and made by each attention."""
        return self._each("score", "score", lambda n: (self.name,))

    # ---- modules

    def key(self, n: int, attention: Instance | None = None) -> str:
        """The module that holds what the layers of a scheme share; empty where there is none."""
        layer, stack = self.layers.distinct[n], self.layers.stack
        first = attention or next(iter(self.layers.mixing(layer)), None)
        return stack.schemes.get((layer.position, first.component.heads, first.component.head_dim), "") if first else ""

    def _held(self, n: int, attention: Instance | None = None) -> str:
        return f"self.{self.key(n, attention)}"

    @cached_property
    def modules(self) -> list[str]:
        """For each distinct layer the expression that makes what its scheme holds in an attention."""
        return self._made("module")

    @property
    def shared(self) -> list[tuple[str, str]]:
        """The modules that are held once for all layers, each with its key and the expression that makes it."""
        found = {}
        for n, layer in enumerate(self.layers.distinct):
            for attention in self.layers.mixing(layer):
                if key := self.key(n, attention):
                    found.setdefault(key, self._constructed("holder", self._view("holder", n, attention)))
        return list(found.items())

    def _made(self, part: str) -> list[str]:
        distinct, mixing = self.layers.distinct, self.layers.mixing
        return [self._constructed(part, self._view(part, n, mixing(layer)[0])) if mixing(layer) else "" for n, layer in enumerate(distinct)]

    @staticmethod
    def _constructed(part: str, view: View) -> str:
        return f"{view.name}({view.passed.removeprefix(', ')})" if view.macro(f"{part}_title").strip() else ""
