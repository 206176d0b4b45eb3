"""The graph of a model: walks the frame and calls each component's lowering."""

from __future__ import annotations

from typing import Any

from specc.backends.onnx import proto
from specc.backends.onnx.adapter.builder import AdaptedBuilder
from specc.backends.onnx.builder import Builder, Value
from specc.backends.onnx.frame import Call, Frame
from specc.backends.onnx.initializers import Initializers
from specc.ir.adapter import Adapter
from specc.ir.model import Instance, Layer, Model, Stack
from specc.ir.wiring import Add, Concat, Insert, Ref, Scale, Wire, calls
from specc.ir.wiring import Call as WireCall
from specc.weights.mapping import Stored


def build(model: Model, stored: dict[str, Stored], compute: str = "float32", origins: dict[str, str] | None = None, metadata: dict[str, str] | None = None, over: Adapter | None = None):
    """The ONNX model (a ModelProto) of a decoder or an encoder.

    over: an adapter whose tensors are inputs of the graph, and change nothing where they are not given.
    stored: where each parameter's bytes lie. compute: the type of the activations. origins: `file:line` by place in the state dict.
    """
    g = Builder(Initializers(stored), compute, origins) if over is None else AdaptedBuilder(over, Initializers(stored), compute, origins)
    return _Emitter(model, model.stack, g).graph(metadata or {})


class _Emitter:
    def __init__(self, model: Model, stack: Stack, g: Builder) -> None:
        self.model, self.stack, self.g = model, stack, g
        self.frame = Frame(g, stack.causal, stack.schemes, stack.dims)
        self.names: dict[Value, str] = {}
        self.presents: dict[str, tuple[Value, tuple[int | str, ...]]] = {}

    def graph(self, metadata: dict[str, str]):
        x = self._embedding()
        for number, layer in enumerate(self.stack.layers):
            x = self._layer(number, layer, x)
        if self.stack.final_norm is not None:
            with self.g.scope("final_norm"):
                x = self.stack.final_norm.lower(self.g, x)
        outputs = []
        for head in self.model.heads:
            with self.g.scope(head.key):
                for name, value in head.component.lower(self.g, x, Call(self.frame)).items():
                    outputs.append(self._output(name, value, head.component.output_shape(name, self.stack.dims)))
        outputs += [self._output(name, value, shape) for name, (value, shape) in self.presents.items()]
        self._rename_outputs()
        inputs = [proto.value_info(name, dtype, shape) for name, (dtype, shape) in self._ordered_inputs()]
        initializers = self.g.weights.made.values()
        return proto.model(self.model.name, self.model.doc, self.g.nodes, initializers, inputs, outputs, metadata)

    def _ordered_inputs(self) -> list[tuple[str, Any]]:
        """The tokens first, the cache last."""
        order = ("input_ids", "pixel_values", "attention_mask", "position_ids", "token_type_ids")

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
            with self.g.scope(part.key):
                if part.component.axis == "embed":
                    return part.component.lower(self.g, call, *inputs)
                return part.component.lower(self.g, inputs[0], call)

        instances = {i.path: i for i in self.stack.embedding.instances}
        return self._wire(self.stack.embedding.value, {}, instances, apply, ("embed",))

    def _layer(self, number: int, layer: Layer, x: Value) -> Value:
        instances = {i.path: i for i in layer.instances}
        wired = [c for assign in layer.block.body for c in calls(assign.value)]
        keeping = sum(bool(instances[c.instance].component.state(self.stack.dims)) for c in wired)
        slots = iter([str(number)] if keeping == 1 else [f"{number}.{n}" for n in range(keeping)])  # each call has a cache of its own

        place = "layers", str(self.stack.set_of(number))

        def apply(part: Instance, inputs: list[Value]) -> Value:
            state = part.component.state(self.stack.dims)
            slot = next(slots) if state else ""
            call = self._call(slot, layer, part)
            with self.g.scope(*place, part.key):
                made = part.component.lower(self.g, inputs[0], call)
            for name, value in call.present.items():
                shape = next(s.shape for s in state if s.name == name)
                self.presents[f"present.{slot}.{name}"] = (value, _axes(shape, "total_sequence"))
            return self.g.after(f"layers.{number}.{part.key}", inputs[0], made)

        bound = {layer.block.inputs[0]: x}
        for assign in layer.block.body:
            bound[assign.name] = self._wire(assign.value, bound, instances, apply, place)
        return self.g.after(f"layers.{number}", x, bound[layer.block.inputs[0]])

    def _call(self, slot: str, layer: Layer, part: Instance) -> Call:
        state = part.component.state(self.stack.dims)
        if not state:
            return Call(self.frame)
        component = part.component
        call = Call(self.frame, layer.position, self.frame.tables(layer.position, component.head_dim, component.heads))
        call.mask = self.frame.mask(layer.mask, layer.position, component.heads)
        if self.stack.causal:
            names = {s.name: f"past_key_values.{slot}.{s.name}" for s in state}
            call.past = {s.name: self.frame.given(names[s.name], _axes(s.shape, "past_sequence"), self.g.compute) for s in state}
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
                with self.g.scope(*place):
                    return self.g.op("Mul", scaled, factor)
            case Add():
                total, *rest = [self._wire(w, bound, instances, apply, place) for w in wire.terms]
                with self.g.scope(*place):
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


def _axes(shape: tuple[int | str, ...], growing: str) -> tuple[int | str, ...]:
    return tuple({"B": "batch", "S": growing}.get(extent, extent) for extent in shape)
