"""From a model's body to the IR: every layer, every dimension, every default filled in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from specc.components.registry import AXES, SUBLAYERS
from specc.diagnostics.finding import Diagnostic, Report, SpecError, did_you_mean, fail
from specc.ir.model import Embedding, Instance, Layer, Model, Stack, Training
from specc.ir.node import Component, Dims
from specc.ir.wiring import Block, Ref, Wire
from specc.resolve.components import build
from specc.resolve.evaluate import evaluate, truth
from specc.resolve.fields import Body, collect
from specc.resolve.layout import layout
from specc.resolve.program import Program
from specc.resolve.reach import INDEX, Reach, mentions
from specc.resolve.scope import Scope
from specc.resolve.values import Constructor, Record, Symbol, describe
from specc.resolve.weights import weight_maps
from specc.resolve.width import width_of
from specc.resolve.wiring import DECLARED, Wirer
from specc.resolve.work import LAYER, MODEL, Work
from specc.source import Span
from specc.syntax import tree

SIZES = ("vocab", "dim", "depth", "context")
TRAINING = ("dropout", "attention_dropout")
KNOWN = (*SIZES, *TRAINING, *(a for a in AXES if a != "activation"), "final_norm", "block", "layers", "sample", "ignore")
MOST_LAYERS = 10_000
ANY = (Ref(name="x"),)  # for a call that is known to have one input
MOST_WRONG = 20  # statements of one section that are named as wrong


@dataclass(slots=True)
class Resolved:
    """A model with what the text still knows of it. Warnings are in the report."""

    model: Model
    body: Body
    scope: Scope
    definition: tree.Model


def resolve(
    definition: tree.Model,
    program: Program,
    report: Report,
    config: Record | None = None,
    tensors: frozenset[str] | None = None,
    work: Work | None = None,
) -> Resolved:
    """The typed model. Raises SpecError with every error found.

    A family (a model with a parameter) is given its config, and the names of the tensors where a checkpoint is at hand.
    `work`: what was spent on other models of the same file.
    """
    work = work or Work()
    work.spend(MODEL, definition.name_span)
    body = collect(definition, program, report, work)
    report.raise_errors()
    variables = {definition.parameters[0]: config} if definition.parameters and config is not None else {}
    if tensors is not None:
        variables["checkpoint"] = tensors
    scope = Scope(body.fields, report, evaluate, variables, body.layers, work=work)
    resolver = _Resolver(definition, body, program, scope, report)
    model = resolver.model()
    report.raise_errors()
    return Resolved(model, body, scope, definition)


@dataclass(slots=True)
class _Resolver:
    definition: tree.Model
    body: Body
    program: Program
    scope: Scope
    report: Report
    dims: Dims | None = None
    reach: Reach | None = None
    shared: dict[tuple[str, tuple[str, ...]], Component | None] = field(default_factory=dict)  # what all layers have in common
    instances: dict[tuple[str, int], Instance] = field(default_factory=dict)
    wired: dict[int, tuple[list[tuple[str, Span]], frozenset[str], Block]] = field(default_factory=dict)

    def model(self) -> Model:
        for stack in self.body.stacks.values():
            raise fail("CAP001", f"`{stack.name}` stacks cannot be compiled yet", stack.span)
        self._requires()
        self.dims = self._dims()
        embedding = self._try(self._embedding)
        layers = self._try(self._layers)
        final_norm = self._try(self._final_norm)
        heads = self._try(self._heads)
        training = self._try(self._training)
        self._try(self._unused)
        self.report.raise_errors()
        stack = Stack(dims=self.dims, embedding=embedding, layers=layers, final_norm=final_norm)
        model = Model(name=self.definition.name, doc=self.definition.doc, stacks=(stack,), heads=heads, training=training)
        self._tied_heads(model)
        maps = weight_maps(model, self.body.weights, self.scope, self.report, family=bool(self.definition.parameters))
        return model.model_copy(update={"weights": maps})

    def _try(self, part):
        """One part of the model; what is wrong with it is kept, and the next part is looked at too."""
        try:
            return part()
        except SpecError as error:
            self.report.add(*error.diagnostics)

    # ---- sizes

    def _requires(self) -> None:
        for require in self.body.requires:
            if not truth(evaluate(require.condition, self.scope), require.condition.span):
                self.report.error("CFG001", f"not supported: {require.otherwise}", require.condition.span)
        self.report.raise_errors()

    def _dims(self) -> Dims:
        sizes = {name: self._try(lambda name=name: self._size(name)) for name in SIZES}
        for name in ("dim", "depth"):
            if name not in self.body.fields:
                self.report.error("VAL002", f"the model `{self.definition.name}` states no `{name}`", self.definition.name_span, f"add `{name} = ...`")
        if self.report.errors:
            self._try(self._unused)
        self.report.raise_errors()
        return Dims(**sizes)

    def _size(self, name: str) -> int | None:
        value = self._value(name)
        if value is None and (name not in self.body.fields or name in ("vocab", "context")):
            return None
        span = self.body.fields[name].value.span
        if isinstance(value, bool) or not isinstance(value, int):
            raise fail("TYP001", f"`{name}` must be a whole number, and it is {describe(value)}", span)
        if value < 1:
            raise fail("VAL001", f"`{name}` must be greater than 0, and it is {value}", span)
        if name == "depth" and value > MOST_LAYERS:
            raise fail("LIM010", f"{value:,} layers are more than the {MOST_LAYERS:,} that specc takes", span)
        return value

    def _value(self, name: str, scope: Scope | None = None) -> Any:
        scope = scope or self.scope
        return scope.field(name, self.body.fields[name].span if name in self.body.fields else self.definition.name_span) if name in scope.fields else None

    # ---- components

    def _component(self, name: str, axes: tuple[str, ...], scope: Scope, dims: Dims) -> Component | None:
        """The component of a field; None where the field is absent or none."""
        if name not in scope.fields:
            return None
        common = scope.base is not None and name not in scope.changed
        if common and (name, axes) in self.shared:
            return self.shared[name, axes]
        value, span = self._value(name, scope), scope.fields[name].value.span
        found = None if value is None else build(value, axes, dims, span, scope.base if common and scope.base else scope)
        if common:
            self.shared[name, axes] = found
        return found

    def _required(self, name: str, scope: Scope) -> Component:
        found = self._component(name, (name,), scope, self.dims)
        if found is None:
            raise fail("VAL002", f"the model `{self.definition.name}` states no `{name}`", self.definition.name_span, f"add `{name} = ...`")
        return found

    # ---- layers

    def _layers(self) -> tuple[Layer, ...]:
        self.reach = Reach(self.body.fields)
        labels = self._try(lambda: layout(self.body, self.scope, self.dims.depth, self.definition)) or [*self.body.layers] or ["layer"]
        sections: dict[str, tuple[dict[str, tree.Field], frozenset[str]]] = {}
        kinds: dict[str, Layer | None] = {}
        wrong: set[str] = set()
        layers = []
        for index, label in enumerate(labels):
            if label in wrong:
                continue
            known = kinds.get(label)
            if known is None:
                try:
                    if label not in sections:
                        sections[label] = self._section(label)
                    scope = self.scope.over(sections[label][0], index, sections[label][1])
                    known = self._layer(label, scope)
                except SpecError as error:  # the next kind of layer is looked at too
                    self.report.add(*error.diagnostics)
                    wrong.add(label)
                    continue
                kinds[label] = None if scope.index_read else known
            layers.append(known)
        return tuple(layers)

    def _section(self, label: str) -> tuple[dict[str, tree.Field], frozenset[str]]:
        """The fields of a layer section, and what they change. Raises SpecError with everything that does not belong there."""
        section = self.body.layers.get(label)
        fields: dict[str, tree.Field] = {}
        wrong: list[Diagnostic] = []
        for statement in section.body if section else ():
            if not isinstance(statement, tree.Field):
                wrong.append(Diagnostic("NAM006", "a layer holds fields only", statement.span))
                continue
            name, span = str(statement.path), statement.path.span
            if name in fields:
                wrong.append(Diagnostic("NAM005", f"`{name}` is given twice", span, notes=((fields[name].path.span, "first here"),)))
            if name in SIZES or name in ("embed", "head", "layers", "final_norm"):
                wrong.append(Diagnostic("NAM010", f"`{name}` belongs to the model, not to a layer", span))
            fields[name] = statement
        if wrong:
            raise SpecError(wrong[:MOST_WRONG])
        return fields, self.reach.of(fields, self.scope.work, self.definition.name_span)

    def _layer(self, label: str, scope: Scope) -> Layer:
        """One layer. Raises SpecError with the findings of all its parts."""
        scope.work.spend(LAYER, self.definition.name_span)
        wrong: dict[Diagnostic, None] = {}

        def found(part):
            try:
                return part()
            except SpecError as error:
                wrong.update(dict.fromkeys(error.diagnostics))

        mask = found(lambda: self._required("mask", scope))
        position = found(lambda: self._position(scope))
        block, instances = found(lambda: self._wiring(scope, wrong)) or (None, {})
        if position is not None:
            found(lambda: self._check_layer(position, tuple(instances.values()), scope))
        if wrong:
            raise SpecError(wrong)
        self._overrides_used(label, scope)
        return Layer(label=label, position=position, mask=mask, block=block, instances=tuple(instances.values()))

    def _position(self, scope: Scope) -> Component:
        found = self._component("position", ("position",), scope, self.dims)
        if found is None:
            found = build(Symbol("none", self.definition.span), ("position",), self.dims, self.definition.span, scope)
        return found

    def _wiring(self, scope: Scope, wrong: dict[Diagnostic, None]) -> tuple[Block, dict[str, Instance]]:
        """The block of a layer, and the sublayers that it calls; what is wrong with those goes to `wrong`."""
        block = self._block(scope)
        instances: dict[str, Instance] = {}
        calls: list[tuple[str, Span]] = []

        def instance(path: str, inputs: tuple[Wire, ...], others: tuple[tree.Argument, ...], span: Span) -> str | None:
            if others or len(inputs) != 1:
                raise fail("TYP013", f"`{path}` takes one value of the formula", span)
            calls.append((path, span))
            try:
                component = self._sublayer(path, scope, span)
            except SpecError as error:  # the block is read on, as if the sublayer were there
                wrong.update(dict.fromkeys(error.diagnostics))
                return path
            if component is not None:
                instances[path] = self._instance(path, component)
            return None if component is None else path

        known = self.wired.get(id(block))
        if known is None:
            if len(block.parameters) > 1:
                raise fail("CAP001", f"the block `{block.name}` takes the output of an encoder, and models with two stacks cannot be compiled yet", block.span)
            wired = Wirer(scope, instance).block(block)
            if not wrong and self._constant(block):
                self.wired[id(block)] = (calls, frozenset(instances), wired)
            return wired, instances
        known_calls, present, wired = known
        for path, span in known_calls:
            instance(path, ANY, (), span)
        if instances.keys() == present or wrong:
            return wired, instances
        return Wirer(scope, instance).block(block), instances  # a sublayer that is none here alone

    def _constant(self, block: tree.Block) -> bool:
        """Whether a block says the same in every layer: its formulas name no field but sublayers that they call."""
        named = set().union(*(mentions(statement.value) for statement in block.fields))
        return INDEX not in named and not named & self.scope.fields.keys() - {*SUBLAYERS}

    def _instance(self, path: str, component: Component) -> Instance:
        key = path, id(component)
        if key not in self.instances:
            self.scope.work.spend(3 * getattr(component, "experts", 1), self.definition.name_span)  # each has its own parameters
            self.instances[key] = Instance(path=path, component=component, width=self.dims.dim)
        return self.instances[key]

    def _sublayer(self, path: str, scope: Scope, span: Span) -> Component | None:
        """What a block calls by this path: the labelled field where the model has one, else the field itself."""
        field = path.partition(".")[0]
        name = path if path in scope.fields else field
        scope.used.add(path)
        if name not in scope.fields:
            known = [f for f in scope.fields if f not in (*SIZES, *TRAINING)]
            raise fail("NAM011", f"the block calls `{path}`, and the model has no field `{field}`", span, did_you_mean(field, known))
        return self._component(name, (field,) if field in SUBLAYERS else SUBLAYERS, scope, self.dims)

    def _block(self, scope: Scope) -> tree.Block:
        if "block" not in scope.fields:
            raise fail("VAL002", f"the model `{self.definition.name}` states no `block`", self.definition.name_span, "add `block = pre_norm`, for one")
        value, span = self._value("block", scope), scope.fields["block"].value.span
        blocks = self.program.blocks | self.body.blocks
        if not isinstance(value, Symbol) or value.name not in blocks:
            name = value.name if isinstance(value, (Symbol, Constructor)) else None
            raise fail("NAM012", f"no block is called {describe(value)}", span, did_you_mean(name, blocks) if name else None)
        return blocks[value.name]

    def _check_layer(self, position: Component, instances: tuple[Instance, ...], scope: Scope) -> None:
        for part in instances:
            if part.component.state(self.dims) and hasattr(part.component, "head_dim"):
                for found in position.check_heads(part.component.heads, part.component.head_dim):
                    span = scope.fields["position"].value.span if "position" in scope.fields else self.definition.span
                    raise fail(found.code, found.message, span, found.help)

    def _overrides_used(self, label: str, scope: Scope) -> None:
        """Everything that a layer section sets must be asked for: by the layer itself, or by what another field says."""
        section = self.body.layers.get(label)
        names = {str(s.path): s for s in section.body} if section else {}
        idle = [n for n in names if not scope.evaluated(n) and n not in self.reach.dependents]
        mentioned = set().union(*(mentions(s.value) for s in names.values())) if idle else set()
        for name in idle:
            if name not in mentioned:
                self.report.error("LNT002", f"the layer `{label}` sets `{name}`, and nothing in it uses that", names[name].path.span)

    # ---- embedding, norm, heads

    def _embedding(self) -> Embedding:
        if "embed" not in self.body.fields:
            field = tree.Call(tree.Name("tokens", self.definition.span), (), self.definition.span)
        else:
            self.scope.used.add("embed")
            field = self.body.fields["embed"].value
        instances: dict[str, Instance] = {}

        def instance(path: str, inputs: tuple[Wire, ...], others: tuple[tree.Argument, ...], span: Span) -> str | None:
            head, _, label = path.partition(".")
            if head in self.body.fields and label:
                if len(inputs) != 1:
                    raise fail("TYP013", f"`{path}` takes one value of the formula", span)
                width = width_of(inputs[0], instances, span)
                component = self._sublayer_at(path, head, width)
                name = path
            else:
                name = f"embed.{path}"
                component = build(Constructor(path, others, self.scope, span), ("embed",), self.dims, span, self.scope)
                if component.takes != len(inputs):
                    raise fail("TYP013", f"`{path}` takes {component.takes} values of the formula, and {len(inputs)} come in", span)
                width = width_of(inputs[0], instances, span) if inputs else component.width
            if component is None:
                return None
            if name in instances:
                raise fail("NAM005", f"`{path}` is called twice in the embedding", span, "give each instance a label of its own")
            instances[name] = Instance(path=name, component=component, width=width)
            return name

        value = Wirer(self.scope, instance).wire(field)
        if (width := width_of(value, instances, field.span)) != self.dims.dim:
            raise fail("SHP004", f"the embedding is {width} wide, and the model {self.dims.dim}", field.span, "`project(...)` changes the width")
        return Embedding(value=value, instances=tuple(instances.values()))

    def _sublayer_at(self, path: str, field: str, width: int) -> Component | None:
        name = path if path in self.body.fields else field
        self.scope.used |= {path, field}
        return self._component(name, ("norm",), self.scope, self.dims.model_copy(update={"dim": width}))

    def _final_norm(self) -> Component | None:
        if "final_norm" in self.body.fields:
            return self._component("final_norm", ("norm",), self.scope, self.dims)
        declared = [s for s in self._block(self.scope).fields if str(s.path) in DECLARED] if "block" in self.body.fields else []
        if not declared:
            message = f"neither the model `{self.definition.name}` nor its block says whether a norm follows the last layer"
            raise fail("VAL002", message, self.definition.name_span, "add `final_norm = norm` or `final_norm = none`")
        value = evaluate(declared[0].value, self.scope)
        return None if value is None else build(value, ("norm",), self.dims, declared[0].value.span, self.scope)

    def _heads(self) -> tuple[Instance, ...]:
        if "head" not in self.body.fields:
            raise fail("VAL002", f"the model `{self.definition.name}` states no `head`", self.definition.name_span, "add `head = lm(tied: true)`, for one")
        value, span = self._value("head"), self.body.fields["head"].value.span
        values = value if isinstance(value, list) else [value]
        if not values:
            raise fail("VAL002", f"the model `{self.definition.name}` has an empty list of heads", span, "`head = hidden` gives the last hidden state itself")
        if len(values) != 1:
            raise fail("CAP002", "a model with several heads cannot be compiled yet", span)
        return tuple(Instance(path="head", component=build(v, ("head",), self.dims, span, self.scope), width=self.dims.dim) for v in values)

    def _tied_heads(self, model: Model) -> None:
        """A tied head reads the token table, so there must be one, of the head's width."""
        for head in model.heads:
            if not getattr(head.component, "tied", False):
                continue
            tables = [i for i in model.stack.embedding.instances if i.path == "embed.tokens"]
            wanted = getattr(head.component, "width", None) or self.dims.dim
            if not tables or tables[0].component.width != wanted:
                width = f"{tables[0].component.width} wide" if tables else "missing"
                raise fail("SHP005", f"a tied head of width {wanted} needs a token table as wide, and it is {width}", self.body.fields["head"].value.span)

    def _training(self) -> Training:
        found = {}
        for name in TRAINING:
            value = self._value(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
                raise fail("VAL001", f"`{name}` must be at least 0 and less than 1, and it is {describe(value)}", self.body.fields[name].value.span)
            found[name] = float(value)
        return Training(**found)

    def _unused(self) -> None:
        """What is bound and has no effect. After errors only what looks misspelt: the rest may be used where they struck."""
        if self.definition.parameters:
            return  # not every config of a family uses every field
        used = self.scope.used | self._mentioned_later()
        if failed := bool(self.report.errors):
            used |= set().union(*(mentions(f.value) for f in self._all_fields()))
        for name, statement in self.body.fields.items():
            if name in ("sample", "ignore"):
                continue
            label = f"`{name}`"
            if name.partition(".")[0] in KNOWN:
                if "." in name and name not in used and not failed:
                    self.report.error("LNT002", f"{label} is set, and no block calls it", statement.path.span)
            elif name not in used:
                hint = did_you_mean(name, KNOWN)
                if hint and hint.startswith("did you") and len(name) > 2:
                    self.report.error("NAM013", f"a model has no field {label}", statement.path.span, hint)
                elif not failed:
                    self.report.warn("LNT001", f"{label} is bound and never used", statement.path.span)

    def _mentioned_later(self) -> set[str]:
        """What `checks` and `weights` lead to: they are looked at when the model is complete."""
        values = [c.value for c in self.body.checks] + [f.value for w in self.body.weights.values() for f in w.fields]
        arguments = [a.value for c in self.body.checks if isinstance(c.fact, tree.Call) for a in c.fact.arguments]
        found = waiting = set().union(*map(mentions, values + arguments))
        while waiting:
            waiting = set().union(*(mentions(self.body.fields[n].value) for n in waiting if n in self.body.fields)) - found
            found = found | waiting
        return found

    def _all_fields(self) -> Iterator[tree.Field]:
        yield from self.body.fields.values()
        for section in (*self.body.layers.values(), *self.body.stacks.values()):
            yield from (s for s in section.body if isinstance(s, tree.Field))
        for block in self.body.blocks.values():
            yield from block.fields
