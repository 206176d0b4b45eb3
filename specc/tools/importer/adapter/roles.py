"""Slots of a model back to the roles that the language calls them by."""

from __future__ import annotations

from collections.abc import Iterable

from specc.ir.adapter_slots import layer_of, places
from specc.ir.model import Model

Slots = tuple[str, ...]


class Roles:
    """The roles of a model's slots."""

    def __init__(self, model: Model) -> None:
        self.of = {place.slot.key: place for place in places(model)}

    def grouped(self, found: Iterable[Slots]) -> dict[tuple[int, ...] | None, list[str]]:
        """Targets by the layers that they are in; None for all layers that have the role."""
        layers: dict[Slots, set[int]] = {}
        for slots in found:
            roles = tuple(self.of[key].role for key in slots)
            layers.setdefault(roles, set()).add(layer_of(slots[0]))
        groups: dict[tuple[int, ...] | None, list[str]] = {}
        for roles, numbers in layers.items():
            everywhere = {place.layer for place in self.of.values() if place.role == roles[0]}
            key = None if numbers == everywhere else tuple(sorted(n for n in numbers if n is not None))
            groups.setdefault(key, []).append(_target(roles))
        return groups


def _target(roles: Slots) -> str:
    return roles[0] if len(roles) == 1 else f"fused({', '.join(roles)})"
