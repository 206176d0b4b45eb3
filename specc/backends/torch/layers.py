"""The layers of a stack as classes: which of them share one, what each is given, and what it is called with."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property

from specc.backends.torch.contract import BRANCHES, MIXES
from specc.backends.torch.environment import render
from specc.backends.torch.formula import Called, Formula
from specc.backends.torch.groups import Group, gather
from specc.backends.torch.numbers import Owner
from specc.backends.torch.view import Page, View, structure
from specc.ir.model import Instance, Layer, Stack
from specc.ir.wiring import Call, calls


def camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


@dataclass(slots=True)
class Surroundings:
    """What a class that mixes tokens has to know of the layers it stands in."""

    signature: str
    returns: str
    rotate: list[str]
    cached: bool
    is_causal: bool
    biased: bool
    dropout: str


@dataclass
class Layers:
    """A stack's layers on a page. The places of a group are (number of the distinct layer, path)."""

    page: Page
    stack: Stack
    dropout: str
    attention_dropout: str
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

    # ---- what the frame passes

    def mixing(self, layer: Layer) -> list[Instance]:
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
        """Whether one call hands keys and values to the next."""
        return self.stack.causal and any(self.state_calls)

    @cached_property
    def one_state(self) -> bool:
        return all(len(found) == 1 for found in self.state_calls)

    @cached_property
    def positions(self) -> dict[Hashable, Group]:
        """The position schemes that attention sees, grouped by their functions; the place is a distinct layer's number."""
        groups = gather(
            (structure(layer.position), n, layer.position, self.mixing(layer)[0].component)
            for n, layer in enumerate(self.distinct)
            if self.mixing(layer)
        )
        named = [g for g in groups.values() if g.view(self.page, self.stack.dims).macro("definition").strip()]
        for group in named:
            if len(named) > 1:
                group.name = f"_{self.distinct[group.places[0]].label}"
        return groups

    def scheme(self, n: int) -> View | None:
        """The position scheme of a distinct layer at its own place, once the functions are defined."""
        layer = self.distinct[n]
        if not self.mixing(layer):
            return None
        group = self.positions[structure(layer.position)]
        owner = Owner(arguments=group.passed([n]))
        return View(self.page, (layer.position,), owner, self.stack.dims, name=group.name, beside=(self.mixing(layer)[0].component,))

    def define_positions(self) -> None:
        for group in self.positions.values():
            self.page.define("position", group.define(lambda c: c.macro("definition"), self.page, self.stack.dims))

    @cached_property
    def tables(self) -> list[str]:
        """For each distinct layer the expression of its tables, empty where it has none."""
        return [view.macro("tables").strip() if (view := self.scheme(n)) else "" for n in range(len(self.distinct))]

    @cached_property
    def biases(self) -> list[str]:
        return [view.macro("bias").strip() if (view := self.scheme(n)) else "" for n in range(len(self.distinct))]

    def mask(self, n: int) -> View:
        return View(self.page, (self.distinct[n].mask,), Owner(), self.stack.dims)

    @cached_property
    def hides(self) -> list[bool]:
        return [bool(self.mask(n).macro("visible").strip()) for n in range(len(self.distinct))]

    @cached_property
    def mask_optional(self) -> bool:
        """Whether attention may be called without a mask: every kernel takes that, and no bias has to be carried."""
        parts = [i.component for layer in self.distinct for i in self.mixing(layer)]
        views = [View(self.page, (part,), Owner(), self.stack.dims) for part in parts]
        return all(view.macro("kernel").strip() for view in views) and not any(self.biases)

    @cached_property
    def plain(self) -> list[bool]:
        """For each distinct layer, whether no mask may stand for its own."""
        allowed = self.mask_optional and self.stack.causal and all(self.hides)
        return [allowed and bool(self.mask(n).macro("plain_causal").strip()) for n in range(len(self.distinct))]

    @property
    def mask_type(self) -> str:
        optional = self.mask_optional and (any(self.plain) or not all(self.hides))
        return "Tensor | None" if optional else "Tensor"

    @cached_property
    def parameters(self) -> dict[str, str]:
        """What a layer is called with after x, each with its type."""
        found = {}
        if any(self.tables):
            found["rope"] = "Pair" if all(self.tables) else "Pair | None"
        if any(self.state_calls):
            found["mask"] = self.mask_type
        if self.cached:
            found["past"] = "Pair | None" if self.one_state else "tuple[Pair, ...] | None"
        return found

    def signature(self, past: str | None = None) -> str:
        types = self.parameters if past is None or not self.cached else {**self.parameters, "past": past}
        return ", ".join(["self", "x: Tensor", *(f"{name}: {type_}" for name, type_ in types.items())])

    # ---- classes

    @cached_property
    def classes(self) -> dict[Hashable, Group]:
        """The sublayers that print as classes of their own."""
        groups = gather(
            (self.class_key(n, part), (n, part.path), part.component, self.distinct[n].position if part.component.axis in MIXES else None)
            for n, layer in enumerate(self.distinct)
            for part in layer.instances
            if part.component.axis in BRANCHES
        )
        self._name(groups)
        return groups

    def class_key(self, n: int, part: Instance) -> Hashable:
        key = (structure(part.component), part.width)
        if part.component.axis not in MIXES:
            return key
        if self.biases[n]:
            return (*key, structure(self.distinct[n].position), "biased")
        turning = {structure(layer.position) for m, layer in enumerate(self.distinct) if self.tables[m]}
        if len(turning) <= 1:  # one scheme, which some layers may do without: one class serves both
            return (*key, *turning)
        return (*key, structure(self.distinct[n].position))

    def _name(self, groups: dict[Hashable, Group]) -> None:
        titles: dict[str, list[Group]] = {}
        for group in groups.values():
            titles.setdefault(group.view(self.page, self.stack.dims).macro("title").strip(), []).append(group)
        for title, same in titles.items():
            for group in same:
                labels = {self.distinct[n].label for n, _ in group.places}
                paths = {path for _, path in group.places}
                others = [place for other in same if other is not group for place in other.places]
                if len(same) == 1:
                    name = title
                elif len(labels) == 1 and not labels & {self.distinct[n].label for n, _ in others}:
                    name = camel(*labels) + title
                elif len(paths) == 1 and "." in next(iter(paths)) and not paths & {path for _, path in others}:
                    name = camel(next(iter(paths)).partition(".")[2]) + title
                else:
                    name = title
                group.name = self.page.title(name, ("class", *group.places))

    def define_classes(self) -> None:
        for group in self.classes.values():
            axis = group.components[0].axis
            if axis in MIXES:
                around = self._surroundings(group)
                text = group.define(lambda c, around=around: c.macro("definition", around), self.page, self.stack.dims)
            else:
                text = group.define(lambda c: c.macro("definition"), self.page, self.stack.dims)
            self.page.define(axis, text)

    def _surroundings(self, group: Group) -> Surroundings:
        numbers = list(dict.fromkeys(n for n, _ in group.places))
        turning = [n for n in numbers if self.tables[n]]
        view = self.scheme(turning[0] if turning else numbers[0])
        rotate = [line for line in view.macro("rotate").split("\n") if line.strip()]
        if rotate and not all(self.tables):
            rotate = ["if rope is not None:", *(f"    {line}" for line in rotate)]
        return Surroundings(
            signature=self.signature("Pair | None"),
            returns="tuple[Tensor, Pair]" if self.cached else "Tensor",
            rotate=rotate,
            cached=self.cached,
            is_causal=any(self.plain[n] for n in numbers),
            biased=bool(self.biases[numbers[0]]),
            dropout=self.attention_dropout,
        )

    # ---- blocks

    @cached_property
    def blocks(self) -> dict[Hashable, Group]:
        """Distinct layers that share a block class; the component of a place is not used."""
        groups: dict[Hashable, Group] = {}
        for n, layer in enumerate(self.distinct):
            group = groups.setdefault(self._block_key(n, layer), Group([], [], owner=Owner()))
            group.places.append(n)
        for group in groups.values():
            labels = {self.distinct[n].label for n in group.places}
            shared = labels & {self.distinct[n].label for other in groups.values() if other is not group for n in other.places}
            prefix = camel(*labels) if len(groups) > 1 and len(labels) == 1 and not shared else ""
            group.name = self.page.title(f"{prefix}Block", ("block", *group.places))
        return groups

    def _block_key(self, n: int, layer: Layer) -> Hashable:
        parts = (
            (i.path, i.width, self.class_key(n, i) if i.component.axis in BRANCHES else structure(i.component)) for i in layer.instances
        )
        return (layer.block, *parts)

    def block_text(self, group: Group) -> str:
        """The class of a block. Printed twice, as every definition: the first time tells what it has to be given."""
        self._block_text(group)
        return self._block_text(group)

    def _block_text(self, group: Group) -> str:
        first = self.distinct[group.places[0]]
        formula = Formula(lambda call, inputs: self._call(group.places[0], call, inputs))
        modules = [(part.key, self._construct(group, part)) for part in first.instances]
        for assign in first.block.body:
            formula.assign(assign)
        entry, result = first.block.inputs[0], Formula.name(first.block.inputs[0])
        states = len(self.state_calls[group.places[0]])
        if self.cached:
            kept = "present" if self.one_state else "(" + "".join(f"present_{k}, " for k in range(states)).rstrip(" " if states == 1 else ", ") + ")"
            result = f"{result}, {kept}"
        arguments = View(self.page, (first.mask,), group.owner, self.stack.dims).signature
        forward = self.signature()
        return render(
            "block",
            name=group.name,
            about=f"One layer, wired as {first.block.name}.",
            signature=arguments,
            modules=modules,
            forward=forward.replace("x: Tensor", f"{Formula.name(entry)}: Tensor", 1),
            returns=f"tuple[Tensor, {'Pair' if self.one_state else 'tuple[Pair, ...]'}]" if self.cached else "Tensor",
            lines=formula.lines,
            result=result,
        )

    def _construct(self, group: Group, part: Instance) -> str:
        parts = [self.distinct[n].instance(part.path) for n in group.places]
        if part.component.axis not in BRANCHES:
            view = View(self.page, tuple(p.component for p in parts), group.owner, part.dims(self.stack.dims), prefix=f"{part.key}_")
            return view.construct([view.width_in])
        cls = self.classes[self.class_key(group.places[0], part)]
        passed = cls.passed([(n, part.path) for n in group.places])
        texts = [f"{name}={self.page.number((), values, group.owner, f'{part.key}_{name}')}" for name, values in passed.items()]
        return f"{cls.name}({', '.join(texts)})"

    def _call(self, n: int, call: Call, inputs: list[str]) -> Called:
        part = self.distinct[n].instance(call.instance)
        axis = part.component.axis
        drop = f"F.dropout({{}}, {self.dropout}, self.training)" if axis in BRANCHES and self.dropout else "{}"
        if axis not in MIXES:
            return Called(drop.format(f"self.{part.key}({', '.join(inputs)})"))
        arguments = [name for name in self.parameters]
        name, present = MIXES[axis], "present"
        if self.cached and not self.one_state:
            k = next(k for k, c in enumerate(self.state_calls[n]) if c is call)
            name, present = f"{name}_{k}", f"present_{k}"
            arguments[-1] = f"past[{k}] if past else None"
        made = f"self.{part.key}({', '.join([*inputs, *arguments])})"
        if not self.cached:
            return Called(drop.format(made))
        return Called(drop.format(name), (f"{name}, {present} = {made}",))
