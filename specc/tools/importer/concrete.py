"""The concrete spec of a family and a config, as a syntax tree."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from specc.resolve.evaluate import evaluate
from specc.resolve.layout import layout
from specc.resolve.model import Resolved
from specc.resolve.parts import KNOWN, Parts
from specc.resolve.program import Program
from specc.resolve.reach import Reach, parts
from specc.resolve.reduce import Reducer, layer_text, names_in
from specc.resolve.scope import Scope
from specc.resolve.stacks import WHOLE
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
    moved = {name for stack in body.stacks for name in _moved(resolved.towers[stack])}
    stacks = {stack: _sections(resolved.towers[stack], moved) for stack in body.stacks}
    left = {n: f for n, f in body.fields.items() if n not in ("sample", "ignore", "layers") and (n not in moved or n in WHOLE)}
    fields = {n: f for n, f in ((n, _field(f, reducer, scope)) for n, f in left.items()) if f is not None}
    layers, last = {}, []
    if not stacks:
        found, layers, last = _layers(resolved.towers[""], reducer)
        fields |= found
    everything = [*_flat(fields, layers), *(f for each in stacks.values() for f in _flat(each[0], each[1]))]
    blocks = _blocks(everything, program, body.blocks)
    inner = [f for each in stacks.values() for f in _flat(each[0], each[1])]
    fields = _used(fields, [*_flat({}, layers), *inner], blocks)
    sections = []
    for stack, (own, kinds, order) in stacks.items():
        around = [*fields.values(), *(f for other, each in stacks.items() if other != stack for f in _flat(each[0], each[1]))]
        kept = _used(own, [*_flat({}, kinds), *around], blocks)
        sections.append(tree.Stack(stack, (*kept.values(), *kinds.values(), *order), span))
    statements: list[tree.Statement] = [*fields.values(), *layers.values(), *last, *sections]
    statements.append(tree.Checks((tree.Check(tree.Name("params", span), "==", tree.Literal(parameters, span), span),), span))
    statements += [_weights(w, reducer, scope, resolved) for w in body.weights.values()]
    model = tree.Model(name, (), None, tuple(statements), span, span, doc)
    return tree.File(1, (model, *blocks.values()), span)


def _moved(tower: Parts) -> set[str]:
    """The fields of the model that the section of one of two stacks changes, so that a value of the config is another one there."""
    reducer = Reducer(tower.body.fields, tower.definition.parameters)
    changed = Reach(tower.body.fields).of(tower.section.fields, tower.scope.work, tower.definition.span) - tower.section.fields.keys()
    return {name for name in changed if reducer.depends(tower.body.fields[name].value, tower.scope)}


def _sections(tower: Parts, moved: set[str]) -> tuple[dict, dict, list]:
    """One of two stacks: the fields of its section, and those of the model that are not the same in both; its layers; their order."""
    reducer = Reducer(tower.body.fields, tower.definition.parameters)
    names = [n for n in tower.body.fields if (n in moved or n in tower.section.fields) and n != "layers" and n not in WHOLE]
    fields = {n: f for n, f in ((n, _field(tower.body.fields[n], reducer, tower.scope)) for n in names) if f is not None}
    found, layers, order = _layers(tower, reducer)
    return fields | found, layers, order


def _layers(tower: Parts, reducer: Reducer) -> tuple[dict, dict, list]:
    """The fields of the layers where all are of one kind, else a section for each kind, and the statement that orders them."""
    body, scope = tower.body, tower.scope
    standing = layout(body, scope, tower.dims.depth, tower.definition)
    labels = [layer.label for layer in standing]
    kinds = list(dict.fromkeys(labels)) if "layers" in body.fields else []
    sections = {kind: _layer(body.layers[kind], reducer, scope, labels.index(kind)) for kind in kinds}
    if len(kinds) == 1 and all(layer.shared is None for layer in standing):  # one kind of layer is the stack's own
        return {str(f.path): f for f in sections[kinds[0]].body}, {}, []
    span = tower.definition.span
    return {}, sections, [_plain("layers", _layout(standing, span), span)] if sections else []


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


def _blocks(fields: list[tree.Field], program: Program, own: dict[str, tree.Block]) -> dict[str, tree.Block]:
    """The blocks that the model names and the prelude does not bring; one may have the name of another in the prelude."""
    known = program.blocks | own
    named = {n for f in fields if f.path.parts == ("block",) for n in names_in(f.value)}
    return {n: known[n] for n in sorted(named) if n in known and known[n] is not program.prelude_blocks.get(n)}


def _flat(fields: dict, sections: dict) -> list[tree.Field]:
    return [*fields.values(), *(f for s in sections.values() for f in s.body)]


def _used(fields: dict, others: list[tree.Field], blocks: dict) -> dict[str, tree.Field]:
    """The fields without those that only the config's decisions needed; `others` are read as well."""
    while True:
        expressions = [f.value for f in (*fields.values(), *others)] + [f.value for b in blocks.values() for f in b.fields]
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
