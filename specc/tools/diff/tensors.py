"""Parameter by parameter: which tensor of the state dict stays, goes, comes, or changes its name or shape."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from specc.ir.node import Parameter
from specc.tools.spell import ranges

Shapes = Mapping[str, Parameter]


@dataclass(frozen=True, slots=True)
class Tensor:
    """What became of one tensor, or of one in each of several layers. Keys are relative to the layer where there are any.

    part: the key of the component that holds it. fill: what makes an added one change nothing, or the tensor it copies.
    """

    change: Literal["same", "renamed", "reshaped", "added", "removed"]
    old: str | None
    new: str | None
    old_shape: tuple[int, ...] | None
    new_shape: tuple[int, ...] | None
    part: str
    init: str = ""
    needed: bool = True  # whether a checkpoint must hold it
    fill: str | None = None


def compare_parts(
    old: Mapping[str, Sequence[Parameter]], new: Mapping[str, Sequence[Parameter]], renamed: Mapping[str, str]
) -> list[Tensor]:
    """The tensors of two sets of components by key. `renamed`: the new key of each old component that both sides have."""
    found = []
    for key, parameters in old.items():
        target = renamed.get(key)
        there = {p.name: p for p in new[target]} if target is not None else {}
        for p in parameters:
            full, other = f"{key}.{p.name}", there.pop(p.name, None)
            if other is None:
                found.append(Tensor("removed", full, None, p.shape, None, key, p.init, p.role != "optional"))
                continue
            change = "reshaped" if p.shape != other.shape else "same" if key == target else "renamed"
            found.append(Tensor(change, full, f"{target}.{p.name}", p.shape, other.shape, str(target), p.init))
        found += [_added(str(target), p) for p in there.values()]
    taken = set(renamed.values())
    return found + [_added(key, p) for key, parameters in new.items() if key not in taken for p in parameters]


def _added(key: str, p: Parameter) -> Tensor:
    return Tensor("added", None, f"{key}.{p.name}", None, p.shape, key, p.init, p.role != "optional")


def loads(tensors: Sequence[Tensor]) -> bool:
    """Whether the old state dict loads: every key that is asked for is there in its shape, and none is left over."""
    held = {t.old: t.old_shape for t in tensors if t.old is not None}
    asked = {t.new: t.new_shape for t in tensors if t.new is not None}
    needed = {t.new for t in tensors if t.new is not None and (t.needed or t.new in held)}
    return all(held.get(key) == asked[key] for key in needed) and all(key in asked for key in held)


NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")


def grouped(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Tensors that differ in a number of their keys alone, as one: `ffn.experts.{0-7}.up.weight`."""
    groups: dict[tuple, list[Tensor]] = {}
    for t in tensors:
        key = (t.change, _template(t.old), _template(t.new), t.old_shape, t.new_shape, t.fill)
        groups.setdefault(key, []).append(t)
    return [members[0] if len(members) == 1 else _joined(members) for members in groups.values()]


def _template(key: str | None) -> str | None:
    return None if key is None else NUMBER.sub("#", key)


def _joined(members: list[Tensor]) -> Tensor:
    return replace(members[0], old=joined([m.old for m in members]), new=joined([m.new for m in members]))


def joined(keys: Sequence[str | None]) -> str | None:
    """One text for keys of one template."""
    if keys[0] is None:
        return None
    numbers = list(zip(*(NUMBER.findall(str(key)) for key in keys), strict=True))
    texts = iter([ranges({int(n) for n in at}) for at in numbers])
    return NUMBER.sub(lambda _: text if (text := next(texts)).isdigit() else f"{{{text}}}", keys[0])
