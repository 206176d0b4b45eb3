"""Sublayers as classes: which of a stack's layers share one, what it is called, and its text."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

from specc.backends.torch.contract import BRANCHES, MIXES
from specc.backends.torch.groups import Group, gather
from specc.backends.torch.layers import Layers
from specc.backends.torch.view import camel, structure
from specc.ir.model import Instance
from specc.ir.node import Component


@dataclass(slots=True)
class Surroundings:
    """What a class in which tokens read from one another has to know of the layers that it stands in."""

    signature: str
    returns: str
    rotate: list[str]
    cached: bool
    masked: bool
    is_causal: bool
    module: str  # the expression that makes what the position scheme holds in each attention
    score: str  # what the position scheme adds to the scores in each attention
    shares_bias: bool  # whether the mask brings a bias already
    biased: bool  # whether the scores have a bias in any way
    dropout: str
    score_factor: float
    crosses: bool  # whether keys and values come from the encoder's output
    reads: bool = False  # whether keys and values are those of an earlier layer
    shown: bool = False  # whether it gives what each query takes of each key


@dataclass
class Classes:
    """The classes of a stack's sublayers; a place is (number of the distinct layer, path)."""

    layers: Layers
    attention_dropout: str

    @cached_property
    def groups(self) -> dict[Hashable, Group]:
        layers = self.layers
        groups = gather(
            (self.key(n, part), (n, part.path), part.component, layer.position if _reads_own(part) else None)
            for n, layer in enumerate(layers.distinct)
            for part in layer.instances
            if part.component.axis in BRANCHES
        )
        self._name(list(groups.values()))
        return groups

    def key(self, n: int, part: Instance) -> Hashable:
        """Equal for sublayers that one class prints."""
        layers = self.layers
        key = (structure(part.component), part.width, part.memory, part.shared)
        if not _reads_own(part):
            return key
        turns = set(filter(None, layers.schemes.rotations))
        # one rotation, which some layers may do without: a single class serves both
        rotation = next(iter(turns), "") if len(turns) <= 1 else layers.schemes.rotations[n]
        own = (layers.schemes.scores[n], layers.schemes.modules[n]) if layers.schemes.scores[n] else ()
        return (*key, rotation, bool(layers.schemes.biases[n]), layers.distinct[n].position.score_factor(), n in layers.showing, *own)

    def _name(self, groups: list[Group]) -> None:
        page, dims, distinct = self.layers.page, self.layers.stack.dims, self.layers.distinct
        titles: dict[str, list[Group]] = {}
        for group in groups:
            title = group.view(page, dims).macro("title").strip()
            if group.components[0].axis in MIXES:
                title = f"{self._role(group)}{title}"
            titles.setdefault(title, []).append(group)
        for title, same in titles.items():
            for group in same:
                others = [place for other in same if other is not group for place in other.places]
                labels, paths = {distinct[n].label for n, _ in group.places}, {path for _, path in group.places}
                name = title
                if others and len(labels) == 1 and not labels & {distinct[n].label for n, _ in others}:
                    name = camel(*labels) + title
                elif others and len(paths) == 1 and not paths & {path for _, path in others}:
                    name = camel(next(iter(paths)).partition(".")[2]) + title
                group.name = page.title(name, ("class", self.layers.stack.name, *group.places))

    def _memory(self, group: Group) -> int | None:
        return self._first(group).memory

    def _first(self, group: Group) -> Instance:
        n, path = group.places[0]
        return self.layers.distinct[n].instance(path)

    def _role(self, group: Group) -> str:
        """What stands before the title of an attention."""
        first = self._first(group)
        return "Cross" if first.memory else f"{camel(self.layers.stack.name)}{'Shared' if first.shared else ''}"

    def define(self) -> None:
        """Prints every class on the page; those that others may have as a part come first."""
        page = self.layers.page
        for group in sorted(self.groups.values(), key=lambda group: _has_parts(group.components[0])):
            axis = group.components[0].axis
            around = (self._surroundings(group),) if axis in MIXES else ()
            dims = self.layers.stack.dims.model_copy(update={"memory": self._memory(group), "shared": self._first(group).shared})
            text = group.define(lambda c, around=around: c.macro("definition", *around), page, dims)
            if (known := page.like(group.name, text)) is not None:  # an encoder's class that its decoder needs too
                group.name = known
                continue
            page.known(group.name, text)
            page.define(axis, text)

    def _surroundings(self, group: Group) -> Surroundings:
        layers = self.layers
        if self._memory(group):
            return self._across()
        numbers = list(dict.fromkeys(n for n, _ in group.places))
        shown = numbers[0] in layers.showing
        reads = self._first(group).shared
        rotations = layers.schemes.query_rotations if reads else layers.schemes.rotations
        rotate = next((rotations[n] for n in numbers if rotations[n]), "").splitlines()
        if rotate and not all(layers.schemes.tables):
            rotate = [f"if {layers.schemes.name} is not None:", *(f"    {line}" for line in rotate)]
        return Surroundings(
            signature=layers.signature("x", reads=reads, **layers.single),
            returns=returned("Pair" if layers.cached and not reads else "", "Tensor" if shown else ""),
            rotate=rotate,
            cached=layers.cached,
            masked=layers.masked and (layers.stack.padded or any(layers.visible) or bool(layers.schemes.biases[numbers[0]])),
            is_causal=any(layers.plain[n] for n in numbers),
            module=layers.schemes.modules[numbers[0]] if layers.schemes.scores[numbers[0]] else "",
            score=layers.schemes.scores[numbers[0]],
            shares_bias=bool(layers.schemes.biases[numbers[0]]),
            biased=bool(layers.schemes.biases[numbers[0]] or layers.schemes.scores[numbers[0]]),
            dropout=self.attention_dropout,
            score_factor=layers.distinct[numbers[0]].position.score_factor(),
            crosses=False,
            reads=reads,
            shown=shown,
        )

    def _across(self) -> Surroundings:
        """What surrounds a sublayer that reads the encoder's output."""
        return Surroundings(
            signature="self, x: Tensor, memory: Tensor | None, mask: Tensor | None, past: Pair | None",
            returns="tuple[Tensor, Pair]",
            rotate=[],
            cached=True,
            masked=True,
            is_causal=False,
            module="",
            score="",
            shares_bias=False,
            biased=False,
            dropout=self.attention_dropout,
            score_factor=1.0,
            crosses=True,
        )


def returned(*more: str) -> str:
    """The type of what a class of layers or of attentions gives: the hidden state, and what comes with it."""
    types = ["Tensor", *filter(None, more)]
    return types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"


def _reads_own(part: Instance) -> bool:
    """Whether it reads from other tokens of its own stack, so that the layer's position scheme is its concern."""
    return part.component.axis in MIXES and part.memory is None


def _has_parts(component: Component) -> bool:
    """Whether a component holds another one that is a class of its own."""
    held = (getattr(component, name) for name in type(component).model_fields)
    return any(isinstance(part, Component) and part.axis in BRANCHES for part in held)
