"""The linear maps and tables of a model, and what a target may call them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from specc.components.adapter.base import Site, Slot
from specc.ir.model import Model


@dataclass(frozen=True, slots=True)
class Place:
    """A slot of the model with what a target may call it: its role, and the layer it is in."""

    slot: Slot
    role: str
    layer: int | None
    width: int
    table: bool


def places(model: Model) -> list[Place]:
    """Every linear map and table that an adapter can be laid over; looked for once in each model."""
    if "_places" not in model.__dict__:
        model.__dict__["_places"] = _looked_for(model)
    return model.__dict__["_places"]


def _looked_for(model: Model) -> list[Place]:
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
