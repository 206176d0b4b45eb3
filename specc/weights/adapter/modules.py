"""The modules of a published model, as adapters name them, and the slots of this model that each of them is."""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.adapter_slots import places
from specc.ir.model import Model
from specc.ir.weights import WeightMap
from specc.weights.rules import Candidate, candidates


@dataclass(frozen=True, slots=True)
class Module:
    """A published module: its name, and its slots in the order of its rows. groups: how often the slots take turns."""

    name: str
    slots: tuple[str, ...]
    groups: int = 1


def modules(model: Model, weight_map: WeightMap) -> dict[str, Module]:
    """Every module by each name it may have: under any of the map's roots."""
    found: dict[str, Module] = {}
    ways = candidates(weight_map, [f"{place.slot.key}.weight" for place in places(model)])
    for key, options in ways.items():
        if not options or options[0].stack is not None:
            continue
        for name in _names(options[0], weight_map):
            found.setdefault(name, Module(name, _slots(key, options[0]), options[0].groups))
    return found


def _slots(key: str, way: Candidate) -> tuple[str, ...]:
    keys = [own for _, own in way.parts] if way.part is not None else [key]
    return tuple(own.removesuffix(".weight") for own in keys)


def _names(way: Candidate, weight_map: WeightMap) -> list[str]:
    """The names of a tensor's module, the published model's own root first."""
    name = way.names[0].removesuffix(".weight")
    return [name[1:]] if name.startswith("/") else [root + name for root in (*weight_map.root, "")]
