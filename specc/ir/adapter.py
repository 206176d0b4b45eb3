"""An adapter: methods over a whole model, and the places of it where they act."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from specc.components.adapter.base import Method, Site
from specc.components.registry import slot
from specc.ir.adapter_sites import OTHERS
from specc.ir.adapter_slots import layer_of, matched, places
from specc.ir.model import SCHEMA_VERSION, Model
from specc.ir.node import Node, Parameter


class Adapter(Node):
    """Methods in the order in which they act, over a model that they do not change."""

    schema_version: Literal[1] = SCHEMA_VERSION
    name: str
    doc: str = ""
    base: Model
    methods: tuple[slot("adapter"), ...]

    def sites(self) -> list[tuple[Method, Site]]:
        """Every place where something acts, method by method."""
        return [(method, site) for method in self.methods for site in sites(method, self.base)]

    def parameters(self) -> dict[str, Parameter]:
        """Every tensor that the adapter holds, by its name: the place, the kind of method, its own name."""
        found = {f"{site.key}.{method.kind}.{p.name}": p for method, site in self.sites() for p in method.held(site)}
        for method in self.methods:
            found |= {f"{method.kind}.{p.name}": p for p in method.shared(sites(method, self.base))}
        return found

    def settled(self, tensors: dict[str, Any]) -> dict[str, Any]:
        """Its tensors without what only training needs."""
        for method in self.methods:
            tensors = method.settled(sites(method, self.base), tensors)
        return tensors

    @property
    def ahead(self) -> tuple[Method, ...]:
        """The methods that put something in front of the tokens."""
        return tuple(method for method in self.methods if method.place in ("keys", "tokens"))


def sites(method: Method, model: Model) -> list[Site]:
    """Where a method acts in a model."""
    if method.place != "map":
        found = OTHERS[method.place](method, model)
        if method.place != "call" and method.layers is not None:
            return [replace(site, obstacle="what stands ahead is the same in all layers: leave `layers` out") for site in found]
        return [site for site in found if method.layers is None or layer_of(site.key) in method.layers]
    known = places(model)
    found = [replace(site, on_input=entering) for target, entering in method.aims() for site in matched(target, known)]
    return [site for site in found if method.layers is None or layer_of(site.key) in method.layers]


def stays(adapter: Adapter) -> str | None:
    """Why the adapter cannot be merged into the model's weights; None where it can."""
    for method, site in adapter.sites():
        if method.place != "map":
            return f"{method.kind} is no change of weights: it cannot be merged"
        if site.table and any(getattr(head.component, "tied", False) for head in adapter.base.heads):
            return f"the head shares the weight of {site.key}: merged, the adapter would change the head too"
    return None
