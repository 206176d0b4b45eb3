"""Fact by fact: which fields of a component differ, however deep they stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from specc.components.registry import axis_of_field
from specc.ir.node import Component
from specc.tools.diff.reason import Level


@dataclass(frozen=True, slots=True)
class Fact:
    """One value that differs. `place`: what holds it (`position`, `norm.ffn`, `head`); `fields`: the way from there to it.

    pointer: where `place` lies in the typed model, from the layer or from the stack.
    """

    place: str
    fields: tuple[str, ...]
    old: Any
    new: Any
    pointer: str
    level: Level = Level.COMPUTES
    note: str = ""
    old_place: str = ""  # where the old side calls it otherwise

    @property
    def path(self) -> str:
        return ".".join((self.place, *self.fields))

    @property
    def whole_pointer(self) -> str:
        return "/".join((self.pointer, *self.fields))


def component_facts(old: Component | None, new: Component | None, place: str, pointer: str) -> Iterator[Fact]:
    """Every field that differs; one fact for the whole where the kinds do."""
    yield from _facts(old, new, place, (), pointer)


def _facts(old: Component | None, new: Component | None, place: str, fields: tuple[str, ...], pointer: str) -> Iterator[Fact]:
    if old == new:
        return
    if type(old) is not type(new) or old is None or new is None:
        yield Fact(place, fields, old, new, pointer)
        return
    for name, value in old:
        other = getattr(new, name)
        if name == "kind" or value == other:
            continue
        if axis_of_field(type(old), name):
            yield from _facts(value, other, place, (*fields, name), pointer)
        else:
            architecture = type(old).role(name) == "architecture"
            yield Fact(place, (*fields, name), value, other, pointer, Level.COMPUTES if architecture else Level.UNCHANGED)


# What adds a tensor and, while the tensor holds its first value, no number: a bias of zeros, a norm's weight of ones.
NEUTRAL = {"bias": "zeros", "dense_bias": "zeros", "bias_correction": "zeros", "weight": "ones"}


def neutral(fact: Fact) -> str | None:
    """What the tensors that a fact adds are to be filled with so that the model computes what it did; None if nothing does."""
    name = fact.fields[-1] if fact.fields else ""
    if name not in NEUTRAL:
        return None
    if fact.old is False and fact.new is True:
        return NEUTRAL[name]
    grows = isinstance(fact.old, tuple) and isinstance(fact.new, tuple) and set(fact.old) < set(fact.new)
    return NEUTRAL[name] if grows else None
