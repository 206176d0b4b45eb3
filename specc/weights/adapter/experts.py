"""Adapters on experts that a published model keeps in one tensor: peft's `target_parameters`.

A module of E experts then holds A [E * rank, in], an expert's rows together, and B [out, rank * E], in which the experts take
turns. Where two tensors of a module have adapters, one lies inside the other, as `base_layer`; which is which their shapes tell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specc.ir.adapter_slots import layer_of, places
from specc.ir.model import Model

if TYPE_CHECKING:
    from numpy import ndarray

NAME = re.compile(r"(?P<module>.+\.experts)(?P<inner>(?:\.base_layer)*)\.lora_A\.weight")


@dataclass(frozen=True, slots=True)
class Experts:
    """The experts' adapters of one tensor of a layer: its slots for each expert (`gate` and `up`, or `down`), and the names of A and B."""

    slots: tuple[tuple[str, ...], ...]
    a: str
    b: str
    rank: int
    module: str

    def factors(self, tensors: Mapping[str, ndarray], number: int) -> tuple[ndarray, ndarray]:
        """A [rank, in] and B [out, rank] of one expert."""
        a, b = tensors[self.a], tensors[self.b]
        count = len(self.slots)
        return a.reshape(count, -1, a.shape[1])[number], b.reshape(b.shape[0], -1, count)[:, :, number]


def experts(model: Model, tensors: Mapping[str, ndarray], prefix: str) -> list[Experts]:
    """Every such pair of tensors in a published file."""
    found = []
    for name in tensors:
        match = NAME.fullmatch(name.removeprefix(prefix))
        if match is None or not name.startswith(prefix):
            continue
        a, b = name, name.replace(".lora_A.", ".lora_B.")
        if b in tensors:
            found += _pair(model, tensors, a, b, match["module"])
    return found


def _pair(model: Model, tensors: Mapping[str, ndarray], a: str, b: str, module: str) -> list[Experts]:
    layer = layer_of(module)
    by_expert: dict[str, dict[str, tuple[int, int]]] = {}
    for place in places(model):
        stem, dot, last = place.slot.key.rpartition(".")
        if dot and ".experts." in place.slot.key and place.layer == layer:
            by_expert.setdefault(stem, {})[last] = (place.slot.rows, place.width)
    count = len(by_expert)
    if not count or tensors[a].shape[0] % count or tensors[b].shape[1] != tensors[a].shape[0]:
        return []
    given = tensors[b].shape[0], tensors[a].shape[1]
    for roles in (("gate", "up"), ("up",), ("down",)):
        shapes = [by_expert[stem].get(role) for stem in by_expert for role in roles]
        if None in shapes or len(set(shapes)) != 1 or (shapes[0][0] * len(roles), shapes[0][1]) != given:
            continue
        slots = tuple(tuple(f"{stem}.{role}" for role in roles) for stem in by_expert)
        return [Experts(slots, a, b, tensors[a].shape[0] // count, module)]
    return []
