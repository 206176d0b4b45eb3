"""The layers: which stands where, and each one's wiring, sublayers, position scheme and mask."""

from __future__ import annotations

from dataclasses import dataclass, field

from specc.components.registry import SUBLAYERS
from specc.diagnostics.finding import Diagnostic, SpecError, did_you_mean, fail
from specc.ir.model import Instance, Layer
from specc.ir.node import Component
from specc.ir.wiring import Block, Ref, Wire
from specc.resolve.components import build
from specc.resolve.layout import layout, sets
from specc.resolve.parts import MODEL_ONLY, RATES, SIZES, Parts
from specc.resolve.reach import INDEX, Reach, mentions
from specc.resolve.scope import Scope
from specc.resolve.values import LayerRef, Symbol, describe
from specc.resolve.wiring import Wirer
from specc.resolve.work import LAYER
from specc.source import Span
from specc.syntax import tree

MOST_WRONG = 20  # statements of one section that are named as wrong


@dataclass(slots=True)
class Layers:
    """Reads the layers of one model; what many of them have in common is read once."""

    parts: Parts
    reach: Reach | None = None
    instances: dict[tuple[str, int, int | None, bool], Instance] = field(default_factory=dict)
    wired: dict[int, tuple[list[tuple[str, tuple[Wire, ...], Span]], frozenset[str], Block]] = field(default_factory=dict)

    def read(self) -> tuple[tuple[Layer, ...], tuple[int, ...]]:
        """Every layer, in order, and the sets of their weights (Stack.sets).

        What is wrong with one kind is reported, and the next kind is looked at too.
        """
        self.reach = Reach(self.parts.body.fields)
        stated = self.parts.attempt(self._stated) or [LayerRef(label) for label in self.parts.body.layers or ("layer",)]
        sections: dict[str, tuple[dict[str, tree.Field], frozenset[str]]] = {}
        kinds: dict[str, Layer | None] = {}
        wrong: set[str] = set()
        layers = []
        for index, label in enumerate(layer.label for layer in stated):
            if label in wrong:
                continue
            known = kinds.get(label)
            if known is None:
                try:
                    if label not in sections:
                        sections[label] = self._section(label)
                    scope = self.parts.scope.over(sections[label][0], index, sections[label][1])
                    known = self._layer(label, scope)
                except SpecError as error:  # the next kind of layer is looked at too
                    self.parts.report.add(*error.diagnostics)
                    wrong.add(label)
                    continue
                kinds[label] = None if scope.index_read else known
            layers.append(known)
        shared = sets(stated)
        if not wrong:
            self._check_shared(layers, shared)
        return tuple(layers), shared

    def _check_shared(self, layers: list[Layer], shared: tuple[int, ...]) -> None:
        """Layers with one set of weights are alike in every number."""
        first: dict[int, Layer] = {}
        for layer, number in zip(layers, shared, strict=False):
            known = first.setdefault(number, layer)
            if known is not layer and known != layer:
                span = self.parts.body.fields["layers"].value.span
                raise fail("SHP011", f"layers that share weights are alike, and those of `{layer.label}` differ by `layer.index`", span)

    def _stated(self) -> list[LayerRef]:
        """Which layer stands where; nothing where the depth itself is wrong."""
        parts = self.parts
        return layout(parts.body, parts.scope, parts.dims.depth, parts.definition) if parts.dims.depth else []

    def _section(self, label: str) -> tuple[dict[str, tree.Field], frozenset[str]]:
        """The fields of a layer section, and what they change. Raises SpecError with everything that does not belong there."""
        section = self.parts.body.layers.get(label)
        fields: dict[str, tree.Field] = {}
        wrong: list[Diagnostic] = []
        for statement in section.body if section else ():
            if not isinstance(statement, tree.Field):
                wrong.append(Diagnostic("NAM006", "a layer holds fields only", statement.span))
                continue
            name, span = str(statement.path), statement.path.span
            if name in fields:
                wrong.append(Diagnostic("NAM005", f"`{name}` is given twice", span, notes=((fields[name].path.span, "first here"),)))
            if name in MODEL_ONLY:
                wrong.append(Diagnostic("NAM010", f"`{name}` belongs to the model, not to a layer", span))
            fields[name] = statement
        if wrong:
            raise SpecError(wrong[:MOST_WRONG])
        return fields, self.reach.of(fields, self.parts.scope.work, self.parts.definition.name_span)

    def _layer(self, label: str, scope: Scope) -> Layer:
        """One layer. Raises SpecError with the findings of all its parts."""
        scope.work.spend(LAYER, self.parts.definition.name_span)
        wrong: dict[Diagnostic, None] = {}

        def found(part):
            try:
                return part()
            except SpecError as error:
                wrong.update(dict.fromkeys(error.diagnostics))

        mask = found(lambda: self.parts.required("mask", scope))
        position = found(lambda: self._position(scope))
        kv_from = found(lambda: self._kv_from(scope))
        block, instances = found(lambda: self._wiring(scope, wrong, kv_from is not None)) or (None, {})
        if position is not None:
            found(lambda: self._check_layer(position, tuple(instances.values()), scope))
        if mask is not None and self.parts.dims.image is not None and (mask.causal or mask.inputs()):
            span = scope.fields["mask"].value.span
            found(lambda: self._refuse_mask(mask.kind, span))
        reading = next((i.component for i in instances.values() if i.component.inputs()), None) if self.parts.dims.image is not None else None
        if reading is not None:
            place = scope.fields.get(reading.axis)
            found(lambda: self._refuse_reading(reading, place.value.span if place else self.parts.definition.span))
        if wrong:
            raise SpecError(wrong)
        self._overrides_used(label, scope)
        return Layer(label=label, kv_from=kv_from, position=position, mask=mask, block=block, instances=tuple(instances.values()))

    def _refuse_mask(self, kind: str, span: Span) -> None:
        raise fail("IMG003", f"the patches of an image come at once and whole, and `{kind}` is for text", span, "`mask = bidirectional`")

    def _refuse_reading(self, part: Component, span: Span) -> None:
        raise fail("IMG003", f"`{part.kind}` reads `{part.inputs()[0].name}`, which is for text, and this model reads images", span)

    def _position(self, scope: Scope) -> Component:
        found = self.parts.component("position", ("position",), scope, self.parts.dims)
        if found is None:
            found = build(Symbol("none", self.parts.definition.span), ("position",), self.parts.dims, self.parts.definition.span, scope)
        return found

    def _kv_from(self, scope: Scope) -> str | None:
        """The label of the layers whose keys and values are read; None where a layer has its own."""
        value = self.parts.value("kv_from", scope)
        if value is None or (isinstance(value, LayerRef) and value.shared is None):
            return value and value.label
        message = f"`kv_from` is the label of a layer that stands earlier, and this is {describe(value)}"
        raise fail("TYP011", message, scope.fields["kv_from"].value.span, did_you_mean(value.name, self.parts.body.layers) if isinstance(value, Symbol) else None)

    def _wiring(self, scope: Scope, wrong: dict[Diagnostic, None], shared: bool) -> tuple[Block, dict[str, Instance]]:
        """The block of a layer, and the sublayers that it calls; what is wrong with those goes to `wrong`."""
        block = self.parts.block(scope)
        instances: dict[str, Instance] = {}
        calls: list[tuple[str, tuple[Wire, ...], Span]] = []
        crossed = self._reads_memory(block)

        def instance(path: str, inputs: tuple[Wire, ...], others: tuple[tree.Argument, ...], span: Span) -> str | None:
            memory = len(inputs) > 1 and inputs[1:] == crossed
            if others or len(inputs) != 1 + memory:
                more = ", and may take the encoder's output beside it" if crossed else ""
                raise fail("TYP013", f"`{path}` takes one value of the formula{more}", span)
            calls.append((path, inputs, span))
            try:
                component = self._sublayer(path, scope, span)
                if component is not None and memory:
                    self._check_crosses(path, component, span)
            except SpecError as error:  # the block is read on, as if the sublayer were there
                wrong.update(dict.fromkeys(error.diagnostics))
                return path
            if component is not None:
                made = self._instance(path, component, self.parts.memory if memory else None, shared and component.axis == "attention" and not memory)
                if instances.setdefault(path, made).memory != made.memory:
                    raise fail("TYP013", f"`{path}` is called with the encoder's output and without: those are two sublayers", span)
                instances[path] = made
            return None if component is None else path

        known = self.wired.get(id(block))
        if known is None:
            wired = Wirer(scope, instance).block(block)
            if not wrong and self._constant(block):
                self.wired[id(block)] = (calls, frozenset(instances), wired)
            return wired, instances
        known_calls, present, wired = known
        for path, inputs, span in known_calls:
            instance(path, inputs, (), span)
        if instances.keys() == present or wrong:
            return wired, instances
        return Wirer(scope, instance).block(block), instances  # a sublayer that is none here alone

    def _constant(self, block: tree.Block) -> bool:
        """Whether a block says the same in every layer: its formulas name no field but sublayers that they call."""
        named = set().union(*(mentions(statement.value) for statement in block.fields))
        return INDEX not in named and not named & self.parts.scope.fields.keys() - {*SUBLAYERS}

    def _reads_memory(self, block: tree.Block) -> tuple[Wire, ...]:
        """The block's second input, where it has one. Raises SpecError where the stack has nothing to give it."""
        if len(block.parameters) < 2:
            return ()
        if self.parts.memory is None or len(block.parameters) > 2:
            help_ = "the sections `encoder { }` and `decoder { }` make two stacks, and the decoder's blocks may have two inputs"
            raise fail("TYP013", f"the block `{block.name}` takes {len(block.parameters)} inputs, and its layers are given {1 + (self.parts.memory is not None)}", block.span, help_)
        return (Ref(name=block.parameters[1]),)

    @staticmethod
    def _check_crosses(path: str, component: Component, span: Span) -> None:
        if not component.crosses:
            raise fail("TYP013", f"`{path}` is `{component.kind}`, which cannot read the encoder's output", span, "`cross = attention(...)` can")
        for found in component.check_across():
            raise fail(found.code, f"`{path}` reads the encoder's output: {found.message}", span, found.help)

    def _instance(self, path: str, component: Component, memory: int | None, shared: bool) -> Instance:
        key = path, id(component), memory, shared
        if key not in self.instances:
            self.parts.scope.work.spend(3 * getattr(component, "experts", 1), self.parts.definition.name_span)  # each has its own parameters
            self.instances[key] = Instance(path=path, component=component, width=self.parts.dims.dim, memory=memory, shared=shared)
        return self.instances[key]

    def _sublayer(self, path: str, scope: Scope, span: Span) -> Component | None:
        """What a block calls by this path: the labelled field where the model has one, else the field itself."""
        field = path.partition(".")[0]
        name = path if path in scope.fields else field
        scope.used.add(path)
        if name not in scope.fields:
            known = [f for f in scope.fields if f not in (*SIZES, *RATES)]
            help = "`cross = attention` is one like the stack's own" if field == "cross" else did_you_mean(field, known)
            raise fail("NAM011", f"the block calls `{path}`, and the model has no field `{field}`", span, help)
        axes = {"cross": ("attention",)}.get(field, (field,) if field in SUBLAYERS else SUBLAYERS)
        return self.parts.component(name, axes, scope, self.parts.dims)

    def _check_layer(self, position: Component, instances: tuple[Instance, ...], scope: Scope) -> None:
        served = [i.component for i in instances if i.memory is None and i.component.state(self.parts.dims) and hasattr(i.component, "head_dim")]
        for found in position.check_beside(served):
            span = scope.fields["position"].value.span if "position" in scope.fields else self.parts.definition.span
            raise fail(found.code, found.message, span, found.help)

    def _overrides_used(self, label: str, scope: Scope) -> None:
        """Everything that a layer section sets must be asked for: by the layer itself, or by what another field says."""
        section = self.parts.body.layers.get(label)
        names = {str(s.path): s for s in section.body} if section else {}
        idle = [n for n in names if not scope.evaluated(n) and n not in self.reach.dependents]
        mentioned = set().union(*(mentions(s.value) for s in names.values())) if idle else set()
        for name in idle:
            if name not in mentioned:
                self.parts.report.error("LNT002", f"the layer `{label}` sets `{name}`, and nothing in it uses that", names[name].path.span)
