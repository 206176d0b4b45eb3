"""The `weights` sections: this model's parameters under a published checkpoint's names."""

from __future__ import annotations

from typing import Any

from specc.diagnostics.finding import Report, SpecError, fail
from specc.ir.model import Model
from specc.ir.weights import Fused, Tensor, Transpose, WeightMap, WeightRule
from specc.ir.weights import Source as SourceNode
from specc.resolve.evaluate import evaluate
from specc.resolve.scope import Scope
from specc.resolve.values import Source, describe
from specc.source import Span
from specc.syntax import tree


def weight_maps(model: Model, sections: dict[str, tree.Weights], scope: Scope, report: Report, family: bool) -> tuple[WeightMap, ...]:
    """Every weights section as a map; a rule for a part that this model lacks is an error, except in a family."""
    maps = []
    for section in sections.values():
        try:
            maps.append(_map(model, section, scope, report, family))
        except SpecError as error:
            for found in error.diagnostics:
                report._add(found)
    return tuple(maps)


def _map(model: Model, section: tree.Weights, scope: Scope, report: Report, family: bool) -> WeightMap:
    root, ignore, rules = ("",), (), []
    for statement in section.fields:
        name, span = str(statement.path), statement.value.span
        value = evaluate(statement.value, scope)
        if name == "root":
            root = _names(value, span)
        elif name == "ignore":
            ignore = _list(value, span)
        elif value is not None:
            own = own_key(statement.path, model)
            if own is None and not family:
                report.error("WGT001", f"this model has no part `{name}`", statement.path.span)
            if own is None:
                continue  # a family's map covers what some of its models lack
            rules.append(WeightRule(own=own, source=_source(value, span)))
    return WeightMap(name=section.name, root=root, ignore=ignore, rules=tuple(rules))


def own_key(path: tree.Path, model: Model) -> str | None:
    """The state-dict key, or its beginning, that the left side of a rule names; None where the model has no such part."""
    parts = list(path.parts)
    prefix = ""
    if parts[0] == "layers" and len(parts) > 2 and parts[1].startswith("["):
        prefix, parts = "layers.{" + parts[1].strip("[]") + "}.", parts[2:]
        instances = {i.path: i.key for layer in model.stack.layers for i in layer.instances}
    else:
        instances = {i.path: i.key for i in (*model.stack.embedding.instances, *model.heads)}
        if model.stack.final_norm is not None:
            instances["final_norm"] = "final_norm"
    for length in (2, 1):
        key = instances.get(".".join(parts[:length]))
        if key is not None:
            return prefix + ".".join([key, *parts[length:]])
    return None


def _source(value: Any, span: Span) -> SourceNode:
    match value:
        case str():
            return Tensor(names=(value,))
        case Source(operation="tensor"):
            return Tensor(names=value.names)
        case Source(operation="transpose"):
            return Transpose(of=_source(value.of, span))
        case Source(operation="fused"):
            return Fused(of=_source(value.of, span), order=value.order, groups=value.groups)
    raise fail("TYP009", f"the right side is a tensor's name, and this is {describe(value)}", span)


def _names(value: Any, span: Span) -> tuple[str, ...]:
    source = _source(value, span)
    if not isinstance(source, Tensor):
        raise fail("TYP009", "`root` is a name, or alternatives joined by `|`", span)
    return source.names


def _list(value: Any, span: Span) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise fail("TYP009", "`ignore` is a list of names; `{i}` stands for a number and `*` for anything", span)
    return tuple(value)


