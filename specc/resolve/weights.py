"""The `weights` sections: this model's parameters under a published checkpoint's names."""

from __future__ import annotations

import re
from typing import Any

from specc.diagnostics.finding import Report, SpecError, fail
from specc.ir.model import TOKENS, Model, Stack
from specc.ir.weights import Batched, Fused, Gathered, Row, Stacked, Tensor, Transpose, WeightMap, WeightRule
from specc.ir.weights import Source as SourceNode
from specc.resolve.evaluate import evaluate
from specc.resolve.scope import Scope
from specc.resolve.values import Source, describe
from specc.resolve.work import CALL, LAYER
from specc.source import Span
from specc.syntax import tree

PLACEHOLDER = re.compile(r"\{\w+\}")


def weight_maps(model: Model, sections: dict[str, tree.Weights], scope: Scope, report: Report, family: bool) -> tuple[WeightMap, ...]:
    """Every weights section as a map; a rule for a part that this model lacks is an error, except in a family."""
    maps: list[WeightMap] = []
    if not sections:
        return ()
    once = _once(model)
    scope.work.spend(LAYER * 3 * sum(len(stack.layers) for stack in once.stacks), next(iter(sections.values())).span)
    keys = parameter_patterns(once)
    for section in sections.values():
        try:
            maps.append(_map(once, keys, section, scope, report, family))
        except SpecError as error:
            report.add(*error.diagnostics)
    return tuple(maps)


def _map(model: Model, keys: frozenset[str], section: tree.Weights, scope: Scope, report: Report, family: bool) -> WeightMap:
    root, ignore, rules = ("",), (), []
    scope.work.spend(2 * CALL, section.span)
    for statement in section.fields:
        name, span = str(statement.path), statement.value.span
        scope.work.spend(CALL + sum(len(stack.layers) for stack in model.stacks), span)
        value = evaluate(statement.value, scope)
        if name == "root":
            root = _names(value, span)
        elif name == "ignore":
            ignore = _list(value, span)
        elif value is not None:
            source = source_of(value, span)
            own = rule_key(statement.path, source, model, keys)
            if own is not None:
                rules.append(WeightRule(own=own, source=source))
            elif not family:  # a family's map covers what some of its models lack
                report.error("WGT001", f"this model has no parameter `{name}`", statement.path.span)
    return WeightMap(name=section.name, root=root, ignore=ignore, rules=tuple(rules))


def parameter_patterns(model: Model) -> frozenset[str]:
    """Every key of the state dict and every beginning of one, with numbers replaced by `{}`."""
    found = set()
    for key in _once(model).parameters():
        pattern = ".".join(["{}" if part.isdigit() else part for part in key.split(".")])
        while pattern and pattern not in found:  # a hundred experts have one pattern
            found.add(pattern)
            pattern = pattern.rpartition(".")[0]
    return frozenset(found)


def _once(model: Model) -> Model:
    """The model with every layer once that stands in it as one object many times."""
    stacks = (s.model_copy(update={"layers": s.distinct, "sets": ()}) for s in model.stacks)
    return Model(name=model.name, stacks=tuple(stacks), heads=model.heads, shared_tokens=model.shared_tokens)


def rule_key(path: tree.Path, source: SourceNode, model: Model, keys: frozenset[str]) -> str | None:
    """The key, or its beginning, that a rule maps; None where the model has no such parameter."""
    own = _own_key(path, model)
    if own is None:
        return None
    pattern = PLACEHOLDER.sub("{}", own)
    if isinstance(source, Fused):  # the last part is a label, the parts of the tensor stand beside it
        parent, _, last = pattern.rpartition(".")
        parent = parent.rpartition(".")[0] if last in ("weight", "bias") else parent
        return own if any(f"{parent}.{part}" in keys for part in source.order) else None
    return own if pattern in keys else None


def _own_key(path: tree.Path, model: Model) -> str | None:
    """Where the left side of a rule points in the state dict; None where the model has no such part."""
    parts = list(path.parts)
    named = {stack.name: stack for stack in model.stacks}
    stack = named.get(parts[0]) if parts[0] and len(parts) > 1 else None
    if stack is not None:
        parts = parts[1:]
    if parts[0] == "layers" and len(parts) > 2 and parts[1].startswith("["):
        prefix, parts = "layers.{" + parts[1].strip("[]") + "}.", parts[2:]
        stack = stack or named.get("")
        instances = {i.path: i.key for layer in stack.layers for i in layer.instances} if stack else {}
    else:
        prefix, instances = "", _outside(model, stack)
    for length in (2, 1):
        key = instances.get(".".join(parts[:length]))
        if key is not None:
            rest = ("{" + part.strip("[]") + "}" if part.startswith("[") else part for part in parts[length:])
            return (stack.prefix if stack else "") + prefix + ".".join([key, *rest])
    return None


def _outside(model: Model, stack: Stack | None) -> dict[str, str]:
    """The parts outside the layers: of one of two stacks, or (`stack` is None) of the model itself."""
    two = len(model.stacks) > 1
    if stack is None and two:
        shared = {"embed.tokens": TOKENS} if model.shared_tokens else {}
        return shared | {i.path: i.key for i in model.heads}
    whole = stack or model.stack
    found = {i.path: i.key for i in whole.embedding.instances if not (two and model.shared_tokens and i.key == TOKENS)}
    found |= {key: key for key in whole.shared()}
    if whole.final_norm is not None:
        found["final_norm"] = "final_norm"
    return found if two else found | {i.path: i.key for i in model.heads}


def source_of(value: Any, span: Span) -> SourceNode:
    """A tensor expression as a node of the IR. Raises SpecError where it is none."""
    match value:
        case str():
            return Tensor(names=(value,))
        case Source(operation="tensor"):
            return Tensor(names=value.names)
        case Source(operation="transpose"):
            return Transpose(of=source_of(value.of, span))
        case Source(operation="gathered"):
            return Gathered(of=source_of(value.of, span))
        case Source(operation="batched"):
            return Batched(of=source_of(value.of, span))
        case Source(operation="row"):
            return Row(of=source_of(value.of, span))
        case Source(operation="stacked"):
            return Stacked(of=source_of(value.of, span), flat=value.flat)
        case Source(operation="fused"):
            return Fused(of=source_of(value.of, span), order=value.order, groups=value.groups)
    raise fail("TYP009", f"the right side is a tensor's name, and this is {describe(value)}", span)


def _names(value: Any, span: Span) -> tuple[str, ...]:
    source = source_of(value, span)
    if not isinstance(source, Tensor):
        raise fail("TYP009", "`root` is a name, or alternatives joined by `|`", span)
    return source.names


def _list(value: Any, span: Span) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise fail("TYP009", "`ignore` is a list of names; `{i}` stands for a number and `*` for anything", span)
    return tuple(value)
