"""From a model's body to the IR: every layer, every dimension, every default filled in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from specc.components.registry import AXES, SUBLAYERS
from specc.diagnostics.finding import Report, SpecError, did_you_mean, fail
from specc.ir.model import Embedding, Instance, Layer, Model, Stack, Training
from specc.ir.node import Component, Dims
from specc.ir.wiring import Wire
from specc.resolve.components import build
from specc.resolve.evaluate import evaluate, truth
from specc.resolve.fields import Body, collect
from specc.resolve.layout import layout
from specc.resolve.program import Program
from specc.resolve.scope import Scope
from specc.resolve.values import Constructor, Record, Symbol, describe
from specc.resolve.weights import weight_maps
from specc.resolve.width import width_of
from specc.resolve.wiring import DECLARED, Wirer
from specc.source import Span
from specc.syntax import tree

SIZES = ("vocab", "dim", "depth", "context")
TRAINING = ("dropout", "attention_dropout")
KNOWN = (*SIZES, *TRAINING, *(a for a in AXES if a != "activation"), "final_norm", "block", "layers", "sample", "ignore")
MOST_LAYERS = 10_000


@dataclass(slots=True)
class Resolved:
    """A model with what the text still knows of it. Warnings are in the report."""

    model: Model
    body: Body
    scope: Scope
    definition: tree.Model


def resolve(definition: tree.Model, program: Program, report: Report, config: Record | None = None, tensors: frozenset[str] | None = None) -> Resolved:
    """The typed model. Raises SpecError with every error found.

    A family (a model with a parameter) is given its config, and the names of the tensors where a checkpoint is at hand.
    """
    body = collect(definition, program, report)
    report.raise_errors()
    variables = {definition.parameters[0]: config} if definition.parameters and config is not None else {}
    if tensors is not None:
        variables["checkpoint"] = tensors
    scope = Scope(body.fields, report, evaluate, variables, body.layers)
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
            for found in error.diagnostics:
                self.report._add(found)

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
            raise fail("LIM010", f"{value} layers are more than the {MOST_LAYERS} that specc takes", span)
        return value

    def _value(self, name: str, scope: Scope | None = None) -> Any:
        scope = scope or self.scope
        return scope.field(name, self.body.fields[name].span if name in self.body.fields else self.definition.name_span) if name in scope.fields else None

    # ---- components

    def _component(self, name: str, axes: tuple[str, ...], scope: Scope, dims: Dims) -> Component | None:
        """The component of a field; None where the field is absent or none."""
        if name not in scope.fields:
            return None
        value, span = self._value(name, scope), scope.fields[name].value.span
        return None if value is None else build(value, axes, dims, span, scope)

    def _required(self, name: str, scope: Scope) -> Component:
        found = self._component(name, (name,), scope, self.dims)
        if found is None:
            raise fail("VAL002", f"the model `{self.definition.name}` states no `{name}`", self.definition.name_span, f"add `{name} = ...`")
        return found

    # ---- layers

    def _layers(self) -> tuple[Layer, ...]:
        labels = layout(self.body, self.scope, self.dims.depth, self.definition)
        kinds: dict[str, Layer | None] = {}
        layers = []
        for index, label in enumerate(labels):
            known = kinds.get(label)
            if known is None:
                scope = self._layer_scope(label, index)
                known = self._layer(label, scope)
                kinds[label] = None if scope.index_read else known
            layers.append(known)
        return tuple(layers)

    def _layer_scope(self, label: str, index: int) -> Scope:
        section = self.body.layers.get(label)
        fields: dict[str, tree.Field] = {}
        for statement in section.body if section else ():
            if not isinstance(statement, tree.Field):
                raise fail("NAM006", "a layer holds fields only", statement.span)
            name = str(statement.path)
            if name in fields:
                raise fail("NAM005", f"`{name}` is given twice", statement.path.span)
            if name in SIZES or name in ("embed", "head", "layers", "final_norm"):
                raise fail("NAM010", f"`{name}` belongs to the model, not to a layer", statement.path.span)
            fields[name] = statement
        return self.scope.over(fields, index)

    def _layer(self, label: str, scope: Scope) -> Layer:
        mask = self._required("mask", scope)
        position = self._component("position", ("position",), scope, self.dims) or build(Symbol("none", self.definition.span), ("position",), self.dims, self.definition.span, scope)
        instances: dict[str, Instance] = {}

        def instance(path: str, inputs: tuple[Wire, ...], others: tuple[tree.Argument, ...], span: Span) -> str | None:
            if others or len(inputs) != 1:
                raise fail("TYP013", f"`{path}` takes one value of the formula", span)
            component = self._sublayer(path, scope, span)
            if component is not None:
                instances[path] = Instance(path=path, component=component, width=self.dims.dim)
            return None if component is None else path

        block = Wirer(scope, instance).block(self._block(scope))
        self._check_layer(position, tuple(instances.values()), scope)
        self._overrides_used(label, instances)
        return Layer(label=label, position=position, mask=mask, block=block, instances=tuple(instances.values()))

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

    def _overrides_used(self, label: str, instances: dict[str, Instance]) -> None:
        section = self.body.layers.get(label)
        for statement in section.body if section else ():
            name = str(statement.path)
            if name not in self.scope.used and name not in instances:
                self.report.error("LNT002", f"the layer `{label}` sets `{name}`, and nothing in it uses that", statement.path.span)

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
        if self.definition.parameters:
            return  # not every config of a family uses every field
        for name, statement in self.body.fields.items():
            if name in ("sample", "ignore"):
                continue
            label = f"`{name}`"
            if name.partition(".")[0] in KNOWN:
                if "." in name and name not in self.scope.used:
                    self.report.error("LNT002", f"{label} is set, and no block calls it", statement.path.span)
            elif name not in self.scope.used:
                hint = did_you_mean(name, KNOWN)
                if hint and hint.startswith("did you") and len(name) > 2:
                    self.report.error("NAM013", f"a model has no field {label}", statement.path.span, hint)
                else:
                    self.report.warn("LNT001", f"{label} is bound and never used", statement.path.span)
