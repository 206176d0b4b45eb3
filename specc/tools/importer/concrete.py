"""The concrete spec of a family and a config, as a syntax tree."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from specc.resolve.evaluate import evaluate
from specc.resolve.layout import layout
from specc.resolve.model import Resolved
from specc.resolve.parts import KNOWN
from specc.resolve.program import Program
from specc.resolve.reach import parts
from specc.resolve.reduce import Reducer, layer_text, names_in
from specc.resolve.scope import Scope
from specc.resolve.values import LayerRef
from specc.resolve.weights import parameter_patterns, rule_key, source_of
from specc.source import Span
from specc.syntax import tree

STATED = ("position", "final_norm")  # fields whose `none` says something


def concrete_file(resolved: Resolved, program: Program, name: str, doc: str, parameters: int) -> tree.File:
    """A file with one model that needs neither the family nor the config."""
    definition, body, scope = resolved.definition, resolved.body, resolved.scope
    span = definition.span
    reducer = Reducer(body.fields, definition.parameters)
    layers = layout(body, scope, resolved.model.stack.dims.depth, definition)
    labels = [layer.label for layer in layers]
    kinds = list(dict.fromkeys(labels)) if body.layers else []
    sections = {kind: _layer(body.layers[kind], reducer, scope, labels.index(kind)) for kind in kinds}
    fields = {name: _field(f, reducer, scope) for name, f in body.fields.items() if name not in ("sample", "ignore", "layers")}
    fields = {n: f for n, f in fields.items() if f is not None}
    if len(kinds) == 1 and not resolved.model.stack.sets:  # one kind of layer is the model's own
        fields |= {str(f.path): f for f in sections.pop(kinds[0]).body}
    blocks = _blocks(fields, sections, program, body.blocks)
    fields = _used(fields, sections, blocks)
    statements: list[tree.Statement] = [*fields.values(), *sections.values()]
    if sections:
        statements.append(_plain("layers", _layout(layers, span), span))
    statements.append(tree.Checks((tree.Check(tree.Name("params", span), "==", tree.Literal(parameters, span), span),), span))
    statements += [_weights(w, reducer, scope, resolved) for w in body.weights.values()]
    model = tree.Model(name, (), None, tuple(statements), span, span, doc)
    return tree.File(1, (model, *blocks.values()), span)


def _plain(name: str, value: tree.Expr, span: Span) -> tree.Field:
    return tree.Field(tree.Path((name,), span), value, span)


def _field(field: tree.Field, reducer: Reducer, scope: Scope) -> tree.Field | None:
    value = reducer.reduce(field.value, scope)
    dropped = isinstance(value, tree.Literal) and value.value is None and value != field.value
    return None if dropped and field.path.parts[0] not in STATED else replace(field, value=value)


def _layer(section: tree.Layer, reducer: Reducer, scope: Scope, index: int) -> tree.Layer:
    own = {str(s.path): s for s in section.body}
    inside = scope.over(own, index)
    kept = [_field(s, reducer, inside) for s in section.body]
    return replace(section, body=tuple(s for s in kept if s is not None))


def _blocks(fields: dict, sections: dict, program: Program, own: dict[str, tree.Block]) -> dict[str, tree.Block]:
    """The blocks that the model names and the prelude does not bring."""
    known = program.blocks | own
    named = {n for f in _all_fields(fields, sections) if f.path.parts == ("block",) for n in names_in(f.value)}
    return {n: known[n] for n in sorted(named) if n in known and n not in program.prelude_blocks}


def _all_fields(fields: dict, sections: dict) -> list[tree.Field]:
    return [*fields.values(), *(f for s in sections.values() for f in s.body)]


def _used(fields: dict, sections: dict, blocks: dict) -> dict[str, tree.Field]:
    """The fields without those that only the config's decisions needed."""
    while True:
        expressions = [f.value for f in _all_fields(fields, sections)] + [f.value for b in blocks.values() for f in b.fields]
        names = {e.id for x in expressions for e in parts(x) if isinstance(e, tree.Name)}
        kept = {n: f for n, f in fields.items() if n.partition(".")[0] in KNOWN or n.partition(".")[0] in names}
        if len(kept) == len(fields):
            return fields
        fields = kept


def _weights(section: tree.Weights, reducer: Reducer, scope: Scope, resolved: Resolved) -> tree.Weights:
    kept, keys = [], parameter_patterns(resolved.model)
    for field in section.fields:
        value = reducer.reduce(field.value, scope)
        if isinstance(value, tree.Literal) and value.value is None:
            continue
        if str(field.path) not in ("root", "ignore"):
            source = source_of(evaluate(value, scope), value.span)
            if rule_key(field.path, source, resolved.model, keys) is None:
                continue
        kept.append(replace(field, value=value))
    return replace(section, fields=tuple(kept))


def _layout(layers: list[LayerRef], span: Span) -> tree.Expr:
    """`repeat [...]` where the layers are periodic, else runs."""
    for period in range(2, min(len(layers) // 2, 16) + 1):
        if len(set(layers[:period])) > 1 and all(layer == layers[i % period] for i, layer in enumerate(layers)):
            return tree.Repeat(_runs(layers[:period], span), span)
    return _runs(layers, span)


def _runs(layers: list[LayerRef], span: Span) -> tree.ListOf:
    items = []
    for layer, run in groupby(layers):
        count, name = len(list(run)), layer_text(layer, span)
        items.append(name if count == 1 else tree.Binary("*", tree.Literal(count, span), name, span))
    return tree.ListOf(tuple(items), span)
