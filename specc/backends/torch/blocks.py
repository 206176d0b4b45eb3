"""Layers as classes: one for every distinct wiring and structure, printed from the block's formula."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

from specc.backends.torch.classes import Classes, returned
from specc.backends.torch.contract import BRANCHES, MIXES
from specc.backends.torch.environment import render
from specc.backends.torch.formula import Called, Formula
from specc.backends.torch.groups import Group
from specc.backends.torch.layers import Layers
from specc.backends.torch.numbers import Owner, argument
from specc.backends.torch.view import View, camel, structure
from specc.ir.model import Instance
from specc.ir.wiring import Call


@dataclass
class Blocks:
    """The classes of a stack's layers; a place is the number of a distinct layer."""

    layers: Layers
    classes: Classes
    dropout: str

    @cached_property
    def groups(self) -> list[Group]:
        """Distinct layers that share a class. It has no component of its own: the layer's parts are its contents."""
        distinct, groups = self.layers.distinct, {}
        for n in range(len(distinct)):
            groups.setdefault(self._key(n), Group([], [], owner=Owner())).places.append(n)
        for group in groups.values():
            labels = {distinct[n].label for n in group.places}
            others = {distinct[n].label for other in groups.values() if other is not group for n in other.places}
            prefix = camel(*labels) if others and len(labels) == 1 and not labels & others else ""
            stack = self.layers.stack.name
            group.name = self.layers.page.title(f"{camel(stack)}{prefix}Block", ("block", stack, *group.places))
        return list(groups.values())

    def _key(self, n: int) -> Hashable:
        layer = self.layers.distinct[n]
        parts = [
            (i.path, i.width, i.memory, i.shared, self.classes.key(n, i) if i.component.axis in BRANCHES else structure(i.component)) for i in layer.instances
        ]
        return (layer.block, *parts)

    def text(self, group: Group) -> str:
        """The class of a block. Printed twice, as every definition: the first time tells what it has to be given."""
        self._text(group)
        return self._text(group)

    def _text(self, group: Group) -> str:
        layers, n = self.layers, group.places[0]
        block = layers.distinct[n].block
        modules = [(part.key, self._construct(group, part)) for part in layers.distinct[n].instances]
        formula = Formula(lambda call, inputs: self._call(n, call, inputs))
        for assign in block.body:
            formula.assign(assign)
        x = Formula.name(block.inputs[0])
        kept, kept_type, keeps = "present", "Pair", layers.cached and not layers.reads(n)
        if not layers.one_state:
            presents = [f"present_{k}" for k in range(len(layers.state_calls[n]))]
            kept = f"({', '.join(presents)}{',' if len(presents) == 1 else ''})"
            kept_type = "tuple[Pair, ...]"
        return render(
            "block",
            name=group.name,
            wiring=block.name,
            signature=", ".join(["self", *(argument(name, values) for name, values in group.owner.arguments.items())]),
            modules=modules,
            forward=layers.signature(x, layers.beside(layers.distinct[n]), layers.reads(n)),
            returns=returned(kept_type if keeps else "", layers.shown_type),
            lines=formula.lines,
            result=", ".join([x, *[kept] * keeps, *["weights" if n in layers.showing else "None"] * bool(layers.showing)]),
        )

    def _construct(self, group: Group, part: Instance) -> str:
        page, dims = self.layers.page, part.dims(self.layers.stack.dims)
        if part.component.axis in BRANCHES:
            made = self.classes.groups[self.classes.key(group.places[0], part)]
            passed = made.passed([(n, part.path) for n in group.places])
            texts = [f"{name}={page.number((), values, group.owner, f'{part.key}_{name}')}" for name, values in passed.items()]
            return f"{made.name}({', '.join(texts)})"
        components = tuple(self.layers.distinct[n].instance(part.path).component for n in group.places)
        view = View(page, components, group.owner, dims, prefix=f"{part.key}_")
        return view.construct([view.width_in])

    def _call(self, n: int, call: Call, inputs: list[str]) -> Called:
        layers, part = self.layers, self.layers.distinct[n].instance(call.instance)
        axis = part.component.axis
        drop = f"F.dropout({{}}, {self.dropout}, self.training)" if axis in BRANCHES and self.dropout else "{}"
        if axis not in MIXES:
            return Called(drop.format(f"self.{part.key}({', '.join(inputs)})"))
        passed, name, present = layers.passed(n, part), MIXES[axis], "present"
        if part.memory is not None:
            passed = ["memory_mask", "past"]
        if layers.cached and not layers.one_state:
            k = next(k for k, other in enumerate(layers.state_calls[n]) if other is call)
            name, present = f"{name}_{k}", f"present_{k}"
            passed[-1] = f"past[{k}] if past else None"
        made = f"self.{part.key}({', '.join([*inputs, *passed])})"
        names = [name, *[present] * (layers.cached and not part.shared), *["weights"] * (n in layers.showing and part.memory is None)]
        return Called(drop.format(name), (f"{', '.join(names)} = {made}",)) if len(names) > 1 else Called(drop.format(made))
