"""The graph of a model: walks the frame and calls each component's lowering."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from specc.backends.onnx import proto
from specc.backends.onnx.adapter.builder import AdaptedBuilder
from specc.backends.onnx.adapter.frame import DecoderFrameAhead, FrameAhead
from specc.backends.onnx.builder import Builder, Value
from specc.backends.onnx.decoder import DecoderFrame, Memory
from specc.backends.onnx.frame import Call, Frame
from specc.backends.onnx.initializers import Initializers
from specc.ir.adapter import Adapter
from specc.ir.model import TOKENS, Instance, Layer, Model, Stack
from specc.ir.node import Component
from specc.ir.wiring import Add, Concat, Insert, Ref, Scale, Wire, calls
from specc.ir.wiring import Call as WireCall
from specc.weights.mapping import Stored


def graphs(model: Model, stored: dict[str, Stored], compute: str = "float32", origins: dict[str, str] | None = None, metadata: dict[str, str] | None = None, over: Adapter | None = None, shown: frozenset[int] = frozenset()):
    """Every graph (a ModelProto) of a model by its file's name: one, or an encoder's and a decoder's.

    over: an adapter whose tensors are inputs of the graph, and change nothing where they are not given.
    shown: the numbers of the layers whose attention maps the graph gives, as attentions.N.
    stored: where each parameter's bytes lie. compute: the type of the activations. origins: `file:line` by place in the state dict.
    """
    made = {}
    for stack in model.stacks:
        given = Initializers(stored), compute, origins, model.tables[stack.name]
        g = Builder(*given) if over is None else AdaptedBuilder(over, stack, *given)
        made[f"{stack.name}_model.onnx" if stack.name else "model.onnx"] = _Emitter(model, stack, g, shown).graph(metadata or {})
    return made


class _Emitter:
    def __init__(self, model: Model, stack: Stack, g: Builder, shown: frozenset[int]) -> None:
        self.model, self.stack, self.g, self.shown = model, stack, g, shown
        self.beside = model.encoder if stack is not model.encoder else None  # the stack whose output this one reads
        self.memory = None
        if self.beside is None:
            given = g, stack.causal, self._schemes(), stack.dims
            self.frame = FrameAhead(*given, past=self._first_cache()) if g.ahead else Frame(*given)
        else:
            kind = DecoderFrameAhead if g.ahead else DecoderFrame
            self.frame = kind(g, f"past_key_values.{self._first_slot()}.decoder.key", self._schemes(), stack.dims)
            self.memory = Memory(g, self.frame, self.beside.dims.dim)
        self.names: dict[Value, str] = {}
        self.presents: dict[str, tuple[Value, tuple[int | str, ...]]] = {}
        self.kept: dict[int, dict[str, Value]] = {}  # by layer, the keys and values that later layers may read
        self.maps: dict[str, tuple[Value, tuple[int | str, ...]]] = {}

    def graph(self, metadata: dict[str, str]):
        x = self._embedding()
        for number, layer in enumerate(self.stack.layers):
            x = self._layer(number, layer, x)
        if self.stack.final_norm is not None:
            with self._scope("final_norm"):
                x = self.stack.final_norm.lower(self.g, x)
        outputs = self._hidden(x) if self.stack is self.model.encoder else self._heads(x)
        outputs += [self._output(name, value, shape) for name, (value, shape) in (self.maps | self.presents).items()]
        self._rename_outputs()
        inputs = [proto.value_info(name, dtype, shape) for name, (dtype, shape) in self._ordered_inputs()]
        initializers = self.g.weights.made.values()
        return proto.model(self.model.name, self.model.doc, self.g.nodes, initializers, inputs, outputs, metadata)

    def _hidden(self, x: Value) -> list[Any]:
        """What an encoder gives."""
        return [self._output("last_hidden_state", self.frame.sequences(x), ("batch", "sequence", self.stack.dims.dim))]

    def _heads(self, x: Value) -> list[Any]:
        outputs = []
        for head in self.model.heads:
            with self.g.scope(head.key):
                for name, value in head.component.lower(self.g, x, Call(self.frame)).items():
                    shape = head.component.output_shape(name, self.stack.dims)
                    outputs.append(self._output(name, self.frame.outward(value, shape), shape))
        return outputs

    def _schemes(self) -> dict[tuple[Component, int, int], str]:
        """Where this stack's position schemes hold what all their layers share, in the state dict."""
        return {scheme: self.stack.prefix + key for scheme, key in self.stack.schemes.items()}

    def _scope(self, *names: str):
        """A place in this stack."""
        return self.g.scope(*([self.stack.name] if self.stack.name else []), *names)

    def _ordered_inputs(self) -> list[tuple[str, Any]]:
        """The tokens first, the cache last."""
        order = (
            "input_ids", "pixel_values", "attention_mask", "position_ids", "token_type_ids", "encoder_hidden_states", "encoder_attention_mask",
        )  # fmt: skip

        def rank(name: str) -> int:
            return order.index(name) if name in order else len(order) + name.startswith("past_key_values.")

        return sorted((self.frame.inputs | self.g.inputs).items(), key=lambda found: rank(found[0]))

    def _output(self, name: str, value: Value, shape: tuple[int | str, ...]):
        self.names[value] = name
        return proto.value_info(name, self.g.compute, shape)

    def _rename_outputs(self) -> None:
        """Gives the values that leave the graph their published names; an Identity node would copy them."""
        for node in self.g.nodes:
            for names in (node.input, node.output):
                for number, name in enumerate(names):
                    if name in self.names:
                        names[number] = self.names[name]

    # ---- the parts

    def _embedding(self) -> Value:
        call = Call(self.frame)

        def apply(part: Instance, inputs: list[Value]) -> Value:
            tokens = part.key == TOKENS  # which another stack may share
            with self.g.scope(self.g.tokens) if tokens else self._scope(part.key):
                if part.component.axis == "embed":
                    return part.component.lower(self.g, call, *inputs)
                return part.component.lower(self.g, inputs[0], call)

        instances = {i.path: i for i in self.stack.embedding.instances}
        return self._wire(self.stack.embedding.value, {}, instances, apply, ("embed",))

    def _layer(self, number: int, layer: Layer, x: Value) -> Value:
        instances = {i.path: i for i in layer.instances}
        slots = self._slots(number, layer)

        place = "layers", str(self.stack.set_of(number))
        whole = self.stack.prefix + ".".join(place)

        def apply(part: Instance, inputs: list[Value]) -> Value:
            state, key = part.component.state(part.dims(self.stack.dims)), f"{whole}.{part.key}"
            slot = next(slots) if state else ""
            call = self._call(slot, layer, part, key)
            if part.shared:
                call.shared = self.kept[self.stack.sources[number]]
            call.shown = number in self.shown and part.memory is None and part.component.shows_weights
            with self._scope(*place, part.key):
                made = part.component.lower(self.g, inputs[0], call)
            if call.shown:
                self.maps[f"attentions.{number}"] = (call.weights, ("batch", part.component.heads, "sequence", self.frame.all_tokens))
            if call.present:
                self.kept[number] = call.present
            for name, value in call.present.items() if self.stack.causal else ():
                shape = next(s.shape for s in state if s.name == name)
                self.presents[f"present.{slot}.{name}"] = (value, _axes(shape, "total_sequence", "encoder_sequence"))
            return self.g.after(key, inputs[0], made)

        bound = dict.fromkeys(layer.block.inputs, self.memory and self.memory.hidden) | {layer.block.inputs[0]: x}
        for assign in layer.block.body:
            bound[assign.name] = self._wire(assign.value, bound, instances, apply, place)
        return self.g.after(whole, x, bound[layer.block.inputs[0]])

    def _slots(self, number: int, layer: Layer) -> Iterator[str]:
        """The names of the caches of a layer's calls, in their order: each call has one of its own. With an encoder, those say whose keys they hold."""
        instances = {i.path: i for i in layer.instances}
        wired = [instances[c.instance] for assign in layer.block.body for c in calls(assign.value)]
        keeping = [i for i in wired if i.component.state(i.dims(self.stack.dims))]
        if self.beside is None:
            yield from [str(number)] if len(keeping) == 1 else [f"{number}.{n}" for n in range(len(keeping))]
            return
        whose = ["decoder" if i.memory is None else "encoder" for i in keeping]
        counts = {name: count() for name in whose}
        yield from (f"{number}.{name}" if whose.count(name) == 1 else f"{number}.{next(counts[name])}.{name}" for name in whose)

    def _first_cache(self) -> tuple[str, tuple[int | str, ...]] | None:
        """The name and the extents of the first cache, in a stack that keeps one."""
        for number, layer in enumerate(self.stack.layers if self.stack.causal else ()):
            for slot in self._slots(number, layer):
                state = next(s for i in layer.instances for s in i.component.state(i.dims(self.stack.dims)))
                return f"past_key_values.{slot}.{state.name}", _axes(state.shape, "past_sequence", "past_encoder_sequence")
        return None

    def _first_slot(self) -> str:
        """The first cache that holds a decoder's own keys, without its last word."""
        slots = (slot for number, layer in enumerate(self.stack.layers) for slot in self._slots(number, layer))
        return next(slot for slot in slots if slot.endswith(".decoder")).removesuffix(".decoder")

    def _call(self, slot: str, layer: Layer, part: Instance, key: str) -> Call:
        state = part.component.state(part.dims(self.stack.dims))
        if not state and not part.shared:
            return Call(self.frame)
        component = part.component
        if part.memory is None:
            call = Call(self.frame, layer.position, self.frame.tables(layer.position, component.head_dim, component.heads))
            call.mask = self.frame.mask(layer.mask, layer.position, component.heads)
        else:
            call = Call(self.frame, mask=self.memory.visible, memory=self.memory)
        if part.shared:
            return call
        if self.stack.causal:
            names = {s.name: f"past_key_values.{slot}.{s.name}" for s in state}
            axes = {s.name: _axes(s.shape, "past_sequence", "past_encoder_sequence") for s in state}
            call.past = {s.name: self.frame.given(names[s.name], axes[s.name], self.g.compute) for s in state}
        call.past = self.g.kept(key, call.past, self.frame)
        return call

    def _wire(self, wire: Wire, bound: dict[str, Value], instances: dict[str, Instance], apply, place: tuple[str, ...]) -> Value:
        """The value of a formula; its own sums and products belong to `place`."""
        match wire:
            case Ref():
                return bound[wire.name]
            case WireCall():
                inputs = [self._wire(w, bound, instances, apply, place) for w in wire.inputs]
                return apply(instances[wire.instance], inputs)
            case Scale():
                scaled, factor = self._wire(wire.of, bound, instances, apply, place), self.g.number(wire.factor)
                with self._scope(*place):
                    return self.g.op("Mul", scaled, factor)
            case Add():
                total, *rest = [self._wire(w, bound, instances, apply, place) for w in wire.terms]
                with self._scope(*place):
                    for term in rest:
                        total = self.g.op("Add", total, term)
                return total
            case Concat():
                parts = [self._wire(w, bound, instances, apply, place) for w in wire.parts]
                with self.g.scope(*place):
                    return self.frame.picture.joined(parts)
            case Insert():
                what, into = (self._wire(w, bound, instances, apply, place) for w in (wire.what, wire.into))
                with self.g.scope(*place):
                    before, after = self.frame.picture.parted(into, wire.at)
                    return self.frame.picture.joined([before, what, after])
        raise AssertionError(wire)


def _axes(shape: tuple[int | str, ...], growing: str, beside: str) -> tuple[int | str, ...]:
    return tuple({"B": "batch", "S": growing, "M": beside}.get(extent, extent) for extent in shape)
