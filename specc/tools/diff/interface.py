"""What follows from a change: inputs and outputs of the graph, the cache, and the counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from specc.diagnostics.finding import SpecError
from specc.ir.model import Model
from specc.tools.analyse import Costs
from specc.tools.diff.reason import Reason
from specc.tools.spell import ranges, shape

NUMBERED = re.compile(r"^(past_key_values|present)\.(\d+)\.")


def interface(old: Model, new: Model) -> Iterator[Reason]:
    """Names, types and shapes of the graph's inputs and outputs; nothing where the ONNX back end refuses one of the models."""
    try:
        before, after = _graph(old), _graph(new)
    except SpecError:
        return
    for side in ("inputs", "outputs"):
        groups: dict[tuple, list[str]] = {}
        for name in (*before[side], *(n for n in after[side] if n not in before[side])):
            was, now = before[side].get(name), after[side].get(name)
            if was != now:
                groups.setdefault((NUMBERED.sub(r"\1.#.", name), was, now), []).append(name)
        for (template, was, now), names in groups.items():
            layers = [int(found[2]) for name in names if (found := NUMBERED.match(name))]
            path = template.replace("#", f"{{{ranges(layers)}}}" if len(layers) > 1 else str(layers[0])) if layers else template
            change = "added" if was is None else "removed" if now is None else "reshaped"
            yield Reason("interface", change, f"{side[:-1]} {path}", was, now)


def _graph(model: Model) -> dict[str, dict[str, str]]:
    """Inputs and outputs by name. Kinds of layers are built once each; the cache of every layer follows from its state."""
    if model.encoder is not None:
        return _graphs(model)
    stack = model.stack
    small = Model(name=model.name, stacks=(stack.model_copy(update={"layers": stack.distinct, "sets": ()}),), heads=model.heads)
    graph = _built(small)["model.onnx"]
    found = {"inputs": _values(graph.input), "outputs": _values(graph.output)}
    if stack.causal:
        for number, layer in enumerate(stack.layers):
            for part in layer.instances:
                for state in part.component.state(part.dims(stack.dims)):
                    extents = [{"B": "batch", "S": "past_sequence"}.get(e, e) for e in state.shape]
                    found["inputs"][f"past_key_values.{number}.{state.name}"] = f"float {shape(extents)}"
                    extents = [{"past_sequence": "total_sequence"}.get(e, e) for e in extents]
                    found["outputs"][f"present.{number}.{state.name}"] = f"float {shape(extents)}"
    return found


def _graphs(model: Model) -> dict[str, dict[str, str]]:
    """Those of an encoder's graph and a decoder's, cache and all."""
    found: dict[str, dict[str, str]] = {"inputs": {}, "outputs": {}}
    for name, graph in _built(model).items():
        of = name.partition("_")[0]
        for side, values in (("inputs", graph.input), ("outputs", graph.output)):
            for key, said in _values(values, cache=True).items():
                found[side][key if NUMBERED.match(key) else f"{key} of the {of}"] = said
    return found


def _built(model: Model) -> dict[str, Any]:
    from specc.backends.onnx.emit import graphs
    from specc.weights.own import own_layout
    from specc.weights.stored import Stored

    _, tensors = own_layout(model)
    return {name: made.graph for name, made in graphs(model, {key: Stored(tensor) for key, tensor in tensors.items()}).items()}


def _values(values, cache: bool = False) -> dict[str, str]:
    """`int64 [batch, sequence]` by name; the cache only where it is asked for."""
    types = {1: "float", 7: "int64", 9: "bool"}
    found = {}
    for value in values:
        if cache or not NUMBERED.match(value.name):
            tensor = value.type.tensor_type
            found[value.name] = f"{types.get(tensor.elem_type, 'float')} {shape(d.dim_param or d.dim_value for d in tensor.shape.dim)}"
    return found


def cache(old: Model, new: Model) -> Iterator[Reason]:
    """Shapes of what each layer keeps, and bytes for a token."""
    before, after = _state(old), _state(new)
    groups: dict[tuple, list[int]] = {}
    for number in sorted(before.keys() | after.keys()):
        was, now = before.get(number), after.get(number)
        if was != now:
            groups.setdefault((was, now), []).append(number)
    for (was, now), layers in groups.items():
        every = len(layers) == len(before.keys() | after.keys())
        yield Reason("cache", "reshaped", f"layers[{'i' if every else ranges(layers)}]", was or "none", now or "none")
    sizes = [Costs(m).kv_cache(1) - Costs(m).kv_cache(0) for m in (old, new)]
    if sizes[0] != sizes[1]:
        yield Reason("cache", "changed", "bytes per token (bf16)", *(f"{size:,}" for size in sizes))


def _state(model: Model) -> Mapping[int, str]:
    stack = model.stack
    if not stack.causal:
        return {}
    found, known = {}, {}
    for number, layer in enumerate(stack.layers):
        if id(layer) not in known:
            states = [s for part in layer.instances for s in part.component.state(part.dims(stack.dims))]
            known[id(layer)] = ", ".join(f"{s.name} {shape(s.shape)}" for s in states)
        if known[id(layer)]:
            found[number] = known[id(layer)]
    return found


def counts(old: Model, new: Model) -> Iterator[Reason]:
    before, after = Costs(old), Costs(new)
    figures = {
        "parameters": (before.parameters, after.parameters),
        "active parameters": (before.active, after.active),
        "FLOPs per token": (before.flops(1), after.flops(1)),
    }
    for name, (was, now) in figures.items():
        if was != now:
            yield Reason("counts", "changed", name, f"{was:,}", f"{now:,}", note=f"{now - was:+,}")
