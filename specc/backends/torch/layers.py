"""What the layers of a stack are called with: tables, mask, past; and how the layers differ in that."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property

from specc.backends.torch.contract import MIXES
from specc.backends.torch.groups import Group, gather
from specc.backends.torch.numbers import Owner
from specc.backends.torch.view import Page, View, camel, structure
from specc.ir.model import Instance, Layer, Stack
from specc.ir.node import Input
from specc.ir.wiring import Call, calls


@dataclass
class Layers:
    """A stack's layers on a page. Equal layers are looked at once: a list "for each distinct layer" is in their order."""

    page: Page
    stack: Stack
    distinct: list[Layer] = field(default_factory=list)
    sequence: list[int] = field(default_factory=list)  # for every layer, the number of its like in `distinct`

    def __post_init__(self) -> None:
        by_id: dict[int, int] = {}
        by_value: dict[Layer, int] = {}
        for layer in self.stack.layers:
            if id(layer) not in by_id:
                by_id[id(layer)] = by_value.setdefault(layer, len(by_value))
            self.sequence.append(by_id[id(layer)])
        self.distinct = list(by_value)

    @property
    def stored(self) -> list[int]:
        """For every set of weights, the number of its layer in `distinct`."""
        if not self.stack.sets:
            return self.sequence
        first = dict(zip(reversed(self.stack.sets), reversed(self.sequence), strict=True))
        return [first[n] for n in range(len(first))]

    # ---- state

    def mixing(self, layer: Layer) -> list[Instance]:
        """The sublayers in which tokens read from one another."""
        return [i for i in layer.instances if i.component.axis in MIXES]

    @cached_property
    def state_calls(self) -> list[list[Call]]:
        """For each distinct layer, the calls in its block that leave something in the cache, in order."""
        return [
            [c for a in layer.block.body for c in calls(a.value) if layer.instance(c.instance).component.axis in MIXES]
            for layer in self.distinct
        ]

    @cached_property
    def cached(self) -> bool:
        """Whether one call of the model hands keys and values to the next."""
        return self.stack.causal and any(self.state_calls)

    @cached_property
    def one_state(self) -> bool:
        return all(len(found) == 1 for found in self.state_calls)

    # ---- position

    @cached_property
    def schemes(self) -> dict[Hashable, Group]:
        """The position schemes of attention; a place is (number of the distinct layer, path), beside it stands the attention."""
        return gather(
            (structure(layer.position), (n, part.path), layer.position, part.component)
            for n, layer in enumerate(self.distinct)
            for part in self.mixing(layer)
        )

    def define_schemes(self) -> None:
        """The functions of every scheme; those that read alike are one."""
        self.suffixes: dict[tuple[str, Hashable], str] = {}
        self.given: dict[tuple[str, Hashable], Owner] = {}
        for part in ("tables", "rotate", "bias", "module"):
            texts = {key: self._function(part, group) for key, group in self.schemes.items()}
            several = len({text for text in texts.values() if text}) > 1
            named: dict[str, str] = {}
            for key, group in self.schemes.items():
                label = self.distinct[group.places[0][0]].label
                suffix = named.setdefault(texts[key], f"_{label}" if several and texts[key] else "")
                self.suffixes[part, key] = suffix
                self.page.define("position", self._function(part, group, suffix))
                self.given[part, key] = group.owner

    def _function(self, part: str, group: Group, suffix: str = "") -> str:
        group.name, group.owner = self._named(part, group, suffix), Owner(absorbs=True)
        macro = "definition" if part == "module" else f"{part}_definition"
        return group.define(lambda c: c.macro(macro), self.page, self.stack.dims).strip()

    def _named(self, part: str, group: Group, suffix: str) -> str:
        """What follows the name of a function, or the whole name of a class."""
        return group.view(self.page, self.stack.dims).macro("title").strip() + camel(suffix) if part == "module" else suffix

    def _scheme(self, part: str, *arguments: str) -> list[str]:
        """For each distinct layer what its scheme prints, at its first attention, for rotate, bias or score."""
        return [self._at(part, n).macro(part, *arguments).strip() if self.mixing(layer) else "" for n, layer in enumerate(self.distinct)]

    def _at(self, part: str, n: int) -> View:
        return self._view("module" if part == "score" else part, n, self.mixing(self.distinct[n])[0])

    def _view(self, part: str, n: int, attention: Instance) -> View:
        position = self.distinct[n].position
        key = structure(position)
        at = self.schemes[key].places.index((n, attention.path))
        owner = Owner(arguments={name: (values[at],) for name, values in self.given[part, key].arguments.items()})
        name = self._named(part, self.schemes[key], self.suffixes[part, key])
        return View(self.page, (position,), owner, self.stack.dims, name=name, beside=(attention.component,))

    @cached_property
    def _each_tables(self) -> list[list[str]]:
        """For each distinct layer the tables of each of its attentions."""
        return [[self._view("tables", n, at).macro("tables").strip() for at in self.mixing(layer)] for n, layer in enumerate(self.distinct)]

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

    def passed(self, n: int, attention: Instance) -> list[str]:
        """What an attention of a layer is called with after x."""
        own = {name: name for name in self.parameters}
        if self.several_tables:
            at = self.mixing(self.distinct[n]).index(attention)
            own["rope"] = f"rope[{at}]" if all(self.tables) else f"rope[{at}] if rope else None"
        return list(own.values())

    @cached_property
    def rotations(self) -> list[str]:
        return self._scheme("rotate")

    @cached_property
    def biases(self) -> list[str]:
        """What is added to the scores and made once for all layers of a scheme."""
        return [self._at("bias", n).macro("bias", f"self.{self._key(n)}").strip() if self._key(n) else text for n, text in enumerate(self._scheme("bias", ""))]

    @cached_property
    def scores(self) -> list[str]:
        """What is added to the scores and made by each attention."""
        return self._scheme("score")

    def _key(self, n: int) -> str:
        """The module that holds what the layers of a scheme share."""
        layer = self.distinct[n]
        return self.stack.schemes[layer.position, self.mixing(layer)[0].component.heads] if self.stack.scheme(layer) else ""

    @cached_property
    def modules(self) -> list[str]:
        """For each distinct layer the expression that makes the module which holds its scheme's parameters."""
        return [self._constructed(self._at("module", n)) if self.mixing(layer) else "" for n, layer in enumerate(self.distinct)]

    @staticmethod
    def _constructed(view: View) -> str:
        return f"{view.name}({view.passed.removeprefix(', ')})" if view.macro("title").strip() else ""

    @property
    def shared_modules(self) -> list[tuple[str, str]]:
        """The modules that are held once for all layers, by their key."""
        return list({self._key(n): (self._key(n), self.modules[n]) for n in range(len(self.distinct)) if self._key(n)}.values())

    # ---- mask

    def mask(self, n: int) -> View:
        return View(self.page, (self.distinct[n].mask,), Owner(), self.stack.dims)

    @cached_property
    def visible(self) -> list[str]:
        """For each distinct layer the expression that is true where a query sees a key."""
        return [_all_of(self.mask(n).lines("visible")) for n in range(len(self.distinct))]

    @cached_property
    def prepared(self) -> list[str]:
        """The lines that bind what those expressions mention."""
        return list(dict.fromkeys(line for n in range(len(self.distinct)) for line in self.mask(n).lines("prepared")))

    @property
    def counts_anew(self) -> bool:
        """Whether a row may hold several texts."""
        return any(layer.mask.counts_anew for layer in self.distinct)

    @cached_property
    def mask_inputs(self) -> list[Input]:
        """What the masks need from the caller."""
        return list({wanted.name: wanted for layer in self.distinct for wanted in layer.mask.inputs()}.values())

    @cached_property
    def mask_optional(self) -> bool:
        """Whether attention may be called without a mask: every kernel takes that, and no bias has to be carried."""
        parts = [i.component for layer in self.distinct for i in self.mixing(layer)]
        views = [View(self.page, (part,), Owner(), self.stack.dims) for part in parts]
        return all(view.macro("kernel").strip() for view in views) and not any((*self.biases, *self.scores))

    @cached_property
    def plain(self) -> list[bool]:
        """For each distinct layer, whether no mask may stand for its own."""
        allowed = self.mask_optional and self.stack.causal and all(self.visible)
        return [allowed and bool(self.mask(n).macro("plain_causal").strip()) for n in range(len(self.distinct))]

    @property
    def mask_type(self) -> str:
        optional = self.mask_optional and (any(self.plain) or not any(self.visible))
        return "Tensor | None" if optional else "Tensor"

    @cached_property
    def masked(self) -> bool:
        """Whether attention is told what to hide or to add."""
        return any(self.state_calls) and (self.stack.padded or any(self.visible) or any(self.biases))

    # ---- signature

    @cached_property
    def parameters(self) -> dict[str, str]:
        """What a layer is called with after x, each with its type."""
        found = {}
        if any(self.tables):
            pair = "tuple[Pair, ...]" if self.several_tables else "Pair"
            found["rope"] = pair if all(self.tables) else f"{pair} | None"
        if self.masked:
            found["mask"] = self.mask_type
        if self.cached:
            found["past"] = "Pair | None" if self.one_state else "tuple[Pair, ...] | None"
        return found

    @property
    def single(self) -> dict[str, str]:
        """The types of those arguments of which an attention is given one, and its layer perhaps several."""
        return {"rope": "Pair" if all(self.tables) else "Pair | None", "past": "Pair | None"}

    def signature(self, x: str, **instead: str) -> str:
        """The arguments of a `forward`."""
        types = self.parameters | {name: type_ for name, type_ in instead.items() if name in self.parameters}
        return ", ".join(["self", f"{x}: Tensor", *(f"{name}: {type_}" for name, type_ in types.items())])


def _all_of(conditions: list[str]) -> str:
    """The conditions joined, as Python wants them."""
    if len(conditions) == 1:
        return conditions[0]
    return " & ".join(text if text.isidentifier() else f"({text})" for text in conditions)
