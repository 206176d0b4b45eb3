"""Whether two formulas are one: the same operations, perhaps with parts under other names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from specc.ir.fingerprint import Flow, operations
from specc.ir.model import Embedding, Layer

Table = list[list[Any]]  # of operations, as specc.ir.fingerprint makes it


@dataclass(frozen=True, slots=True)
class Wiring:
    """How two formulas compare. `parts`: the new name of each part of the old one that both have."""

    kind: Literal["same", "renamed", "reordered", "other"]
    parts: dict[str, str] = field(default_factory=dict)


def layer_wiring(old: Layer, new: Layer) -> Wiring:
    axes = {i.path: i.component.axis for i in old.instances}, {i.path: i.component.axis for i in new.instances}
    return _compare(operations(old.block), operations(new.block), *axes)


def embedding_wiring(old: Embedding, new: Embedding) -> Wiring:
    axes = {i.path: i.component.axis for i in old.instances}, {i.path: i.component.axis for i in new.instances}
    return _compare(_table(old), _table(new), *axes)


def _table(embedding: Embedding) -> Table:
    flow = Flow()
    return flow.from_(flow.add(embedding.value, {}))


def _compare(old: Table, new: Table, old_axes: dict[str, str], new_axes: dict[str, str]) -> Wiring:
    by_name = {path: path for path in old_axes if path in new_axes}
    if old == new:
        return Wiring("same", by_name)
    renamed = _renaming(old, new, old_axes, new_axes)
    if renamed:
        # what no formula reaches keeps its name
        return Wiring("renamed", by_name | renamed)
    kinds: dict[tuple[Any, ...], int] = {}
    if _unordered(old, kinds) == _unordered(new, kinds):
        return Wiring("reordered", by_name)
    return Wiring("other", by_name)


def _renaming(old: Table, new: Table, old_axes: dict[str, str], new_axes: dict[str, str]) -> dict[str, str] | None:
    """Old name -> new name where names are all that differs, and no two parts changed places."""
    if len(old) != len(new):
        return None
    found: dict[str, str] = {}
    for (kind, what, *inputs), (other_kind, other, *other_inputs) in zip(old, new, strict=True):
        if kind != other_kind or inputs != other_inputs:
            return None
        if kind != "call" and what != other:
            return None
        if kind == "call" and (found.setdefault(what, other) != other or old_axes[what] != new_axes[other]):
            return None
    swapped = set(found) == set(found.values())
    return None if swapped or len(set(found.values())) < len(found) else found


def _unordered(table: Table, kinds: dict[tuple[Any, ...], int]) -> int:
    """A number that two formulas share where they differ only in the order of terms."""
    numbers: list[int] = []
    for kind, what, *inputs in table:
        if kind == "input":
            key: tuple[Any, ...] = (kind, what)
        else:
            places = [numbers[i] for i in inputs]
            key = (kind, what, *(sorted(places) if kind == "add" else places))
        numbers.append(kinds.setdefault(key, len(kinds)))
    return numbers[-1]
