"""An adapter: methods over a whole model, and the places of it where they act."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

from specc.components.adapter.base import Method, Site, Slot
from specc.components.mask.base import Mask
from specc.components.position.base import Position as Scheme
from specc.components.registry import slot
from specc.ir.model import SCHEMA_VERSION, Layer, Model, Stack
from specc.ir.node import Component, Node, Parameter


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
        found = _OTHERS[method.place](method, model)
        if method.place != "call" and method.layers is not None:
            return [replace(site, obstacle="what stands ahead is the same in all layers: leave `layers` out") for site in found]
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
            number = stack.set_of(number)
            found += [(f"{start}layers.{number}.{i.key}", stack.dims.dim, stem + i.path) for i in layer.instances]
            found.append((f"{start}layers.{number}", stack.dims.dim, f"{stem}block"))
    return list(dict.fromkeys(found))


def _keys(method: Method, model: Model) -> list[Site]:
    """Every attention that has keys and values of its own; of an encoder-decoder those of the decoder."""
    found, stack = [], model.stack
    for number, layer in enumerate(stack.layers):
        keeping = [part for part in layer.instances if part.component.state(part.dims(stack.dims)) and part.memory is None]
        for part in keeping:
            states = {state.name: state.shape for state in part.component.state(part.dims(stack.dims))}
            key, width = f"{stack.prefix}layers.{number}.{part.key}", stack.dims.dim
            if set(states) != {"key", "value"} or states["key"] != states["value"] or len(keeping) > 1 or stack.sets:
                found.append(Site(key, width, obstacle="a layer must have one attention of its own, with keys and values of one shape"))
                continue
            _, heads, _, head_dim = states["key"]
            found.append(Site(key, width, heads=heads, head_dim=head_dim, obstacle=_before(stack, layer, part.component)))
    return found


def _tokens(method: Method, model: Model) -> list[Site]:
    """The embedded tokens; of an encoder-decoder those of the encoder."""
    inputs = sorted({i.name for layer in model.stacks[0].layers for i in layer.mask.inputs()})
    obstacle = f"its mask takes {inputs[0]}, which knows nothing of tokens ahead" if inputs else None
    tables = [p for p in places(model) if p.table and p.role.endswith("embed.tokens") and not p.role.startswith("decoder.")]
    return [Site(p.slot.key, p.width, obstacle=obstacle) for p in tables]


def _before(stack: Stack, layer: Layer, attention: Component) -> str | None:
    """Why keys and values cannot stand in front of an attention's own."""
    if stack.dims.image is not None:
        return "the model reads images"
    if layer.mask.inputs():
        return f"its mask takes {layer.mask.inputs()[0].name}, which knows nothing of keys ahead"
    if stack.causal:
        return None
    if type(layer.mask).visible is not Mask.visible:
        return "in a bidirectional stack all keys must be visible"
    if type(layer.position).bias is not Scheme.bias or layer.position.scores:
        return "its position scheme adds to the scores, and keys ahead have no place"
    held = [name for name in ("qk_norm", "clip") if getattr(attention, name, None) is not None]
    return f"`{held[0]}` would change the keys ahead too" if held else None


_OTHERS = {"call": _calls, "keys": _keys, "tokens": _tokens}


def stays(adapter: Adapter) -> str | None:
    """Why the adapter cannot be merged into the model's weights; None where it can."""
    for method, site in adapter.sites():
        if method.place != "map":
            return f"{method.kind} is no change of weights: it cannot be merged"
        if site.table and any(getattr(head.component, "tied", False) for head in adapter.base.heads):
            return f"the head shares the weight of {site.key}: merged, the adapter would change the head too"
    return None
