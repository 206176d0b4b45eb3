"""An adapter: methods over a whole model, and the places of it where they act."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal

from specc.components.adapter.base import Method, Site, Slot
from specc.components.registry import slot
from specc.ir.model import SCHEMA_VERSION, Model
from specc.ir.node import Node, Parameter


@dataclass(frozen=True, slots=True)
class Place:
    """A slot of the model with what a target may call it: its role, and the layer it is in."""

    slot: Slot
    role: str
    layer: int | None
    width: int
    table: bool


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
        return {f"{site.key}.{method.kind}.{p.name}": p for method, site in self.sites() for p in method.held(site)}


def sites(method: Method, model: Model) -> list[Site]:
    """Where a method acts in a model."""
    if method.place != "map":
        found = _OTHERS[method.place](method, model)
        return [site for site in found if method.layers is None or layer_of(site.key) in method.layers]
    known = places(model)
    found = [replace(site, on_input=entering) for target, entering in method.aims() for site in matched(target, known)]
    return [site for site in found if method.layers is None or layer_of(site.key) in method.layers]


def places(model: Model) -> list[Place]:
    """Every linear map and table that an adapter can be laid over."""
    parameters, paths = model.parameters(), _paths(model)
    found = []
    for name, parameter in parameters.items():
        if parameter.slot:
            key = name.removesuffix(".weight")
            rows, width = parameter.shape
            held = Slot(key, rows, f"{key}.bias" in parameters)
            found.append(Place(held, _role(key, paths), layer_of(key), width, parameter.slot == "table"))
    return found


def _paths(model: Model) -> dict[str, str]:
    """What the spec calls each instance, by what the state dict calls it."""
    instances = [i for stack in model.stacks for i in stack.embedding.instances] + list(model.heads)
    layers = {id(layer): layer for stack in model.stacks for layer in stack.layers}.values()
    return {i.key: i.path for i in (*instances, *(i for layer in layers for i in layer.instances))}


def _role(key: str, paths: dict[str, str]) -> str:
    """The path of a place without numbers: `layers.0.ffn.experts.3.up` is `ffn.experts.up`, in a stack of two `decoder.ffn...`."""
    parts = [part for part in key.split(".") if not part.isdigit() and part != "layers"]
    stack = [parts.pop(0)] if parts[0] in ("encoder", "decoder") else []
    return ".".join([*stack, paths.get(parts[0], parts[0]), *parts[1:]])


def layer_of(key: str) -> int | None:
    """The number of the layer that a place is in."""
    parts = key.split(".")
    return int(parts[parts.index("layers") + 1]) if "layers" in parts[:-1] else None


def matched(target: tuple[str, ...], known: list[Place]) -> Iterator[Site]:
    """The sites of one target. Several paths are fused: the maps of theirs that stand side by side make one site."""
    if len(target) == 1:
        for place in known:
            if _fits(target[0], place):
                yield Site(place.slot.key, place.width, (place.slot,), place.table)
        return
    beside: dict[str, dict[int, Place]] = {}
    for place in known:
        for number, path in enumerate(target):
            if _fits(path, place):
                beside.setdefault(place.slot.key.rpartition(".")[0], {})[number] = place
    for stem, parts in beside.items():
        if len(parts) == len(target) and len({parts[n].width for n in parts}) == 1:
            slots = tuple(parts[n].slot for n in range(len(target)))
            key = f"{stem}.{'+'.join(s.key.rpartition('.')[2] for s in slots)}"
            yield Site(key, parts[0].width, slots)


def _fits(path: str, place: Place) -> bool:
    """Whether a path names a place: its role or the beginning of it, with or without the stack; a pattern its key."""
    if any(sign in path for sign in "*?[") or any(part.isdigit() for part in path.split(".")):
        return fnmatchcase(place.slot.key, path)
    roles = [place.role]
    stack, _, rest = place.role.partition(".")
    roles += [rest] if stack in ("encoder", "decoder") else []
    return any(role == path or role.startswith(f"{path}.") for role in roles)


def _calls(method: Method, model: Model) -> list[Site]:
    """The results of sublayers, or of layers (`block`)."""
    found = []
    for (path,), _ in method.aims():
        found += [Site(key, width) for key, width, role in called(model) if path in (role, role.rpartition(":")[2])]
    return found


def called(model: Model) -> list[tuple[str, int, str]]:
    """Every sublayer that a layer's block calls, and the layers themselves: key, width, and role (`decoder:attention`)."""
    found = []
    for stack in model.stacks:
        start, stem = (f"{stack.name}.", f"{stack.name}:") if stack.name else ("", "")
        for number, layer in enumerate(stack.layers):
            found += [(f"{start}layers.{number}.{i.key}", stack.dims.dim, stem + i.path) for i in layer.instances]
            found.append((f"{start}layers.{number}", stack.dims.dim, f"{stem}block"))
    return found


_OTHERS = {"call": _calls}


def stays(adapter: Adapter) -> str | None:
    """Why the adapter cannot be merged into the model's weights; None where it can."""
    for method, site in adapter.sites():
        if method.place != "map":
            return f"{method.kind} is no change of weights: it cannot be merged"
        if site.table and any(getattr(head.component, "tied", False) for head in adapter.base.heads):
            return f"the head shares the weight of {site.key}: merged, the adapter would change the head too"
    return None
