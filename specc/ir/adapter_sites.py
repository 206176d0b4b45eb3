"""Where methods act that change no single map: results of sublayers, keys and values, embedded tokens."""

from __future__ import annotations

from specc.components.adapter.base import Method, Site
from specc.components.mask.base import Mask
from specc.components.position.base import Position as Scheme
from specc.ir.adapter_slots import places
from specc.ir.model import Layer, Model, Stack
from specc.ir.node import Component


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
    parts = [part for layer in model.stacks[0].layers for part in (layer.mask, layer.position, *(i.component for i in layer.instances))]
    inputs = sorted({wanted.name for part in parts for wanted in part.inputs()})
    obstacle = f"its layers take {inputs[0]}, which knows nothing of tokens ahead" if inputs else None
    tables = [p for p in places(model) if p.table and p.role.endswith("embed.tokens") and not p.role.startswith("decoder.")]
    return [Site(p.slot.key, p.width, obstacle=obstacle) for p in tables]


def _before(stack: Stack, layer: Layer, attention: Component) -> str | None:
    """Why keys and values cannot stand in front of an attention's own."""
    if stack.dims.image is not None:
        return "the model reads images"
    if stack.sources:
        return "later layers read keys and values of earlier ones"
    if inputs := (*layer.mask.inputs(), *layer.position.inputs()):
        return f"its layer takes {inputs[0].name}, which knows nothing of keys ahead"
    if stack.causal:
        return None
    if type(layer.mask).visible is not Mask.visible:
        return "in a bidirectional stack all keys must be visible"
    if type(layer.position).bias is not Scheme.bias or layer.position.scores:
        return "its position scheme adds to the scores, and keys ahead have no place"
    held = [name for name in ("qk_norm", "clip") if getattr(attention, name, None) is not None]
    return f"`{held[0]}` would change the keys ahead too" if held else None


OTHERS = {"call": _calls, "keys": _keys, "tokens": _tokens}
