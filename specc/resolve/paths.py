"""Fields that hold places of a model: `[attention.q, fused(ffn.gate, ffn.up), "layers.0.*"]` to paths."""

from __future__ import annotations

from specc.diagnostics.finding import fail
from specc.resolve.scope import Scope
from specc.source import Span
from specc.syntax import tree

MOST = 1_000  # targets of one call


def read_paths(expr: tree.Expr, scope: Scope) -> tuple[tuple[str, ...], ...]:
    """Every target of a list. Raises SpecError where one is no place."""
    return tuple(path for path, _ in with_spans(expr, scope))


def with_spans(expr: tree.Expr, scope: Scope) -> list[tuple[tuple[str, ...], Span]]:
    """The same, each with its text."""
    root = scope.root
    if isinstance(expr, tree.Name) and expr.id in root.fields:  # a list that the adapter binds to a name
        root.used.add(expr.id)
        return with_spans(root.fields[expr.id].value, scope)
    if not isinstance(expr, tree.ListOf) or not 0 < len(expr.items) <= MOST:
        raise fail("ADP002", "places are a list such as `[attention.q, attention.v]`", expr.span)
    return [(_target(item), item.span) for item in expr.items]


def _target(expr: tree.Expr) -> tuple[str, ...]:
    if isinstance(expr, tree.Call) and isinstance(expr.function, tree.Name) and expr.function.id == "fused":
        if len(expr.arguments) < 2 or any(a.name is not None for a in expr.arguments):
            raise fail("ADP002", "`fused(...)` takes two or more places without names", expr.span)
        return tuple(_path(a.value) for a in expr.arguments)
    return (_path(expr),)


def _path(expr: tree.Expr) -> str:
    """`attention.q`, or a pattern as a string."""
    if isinstance(expr, tree.Literal) and isinstance(expr.value, str):
        return expr.value
    parts, rest = [], expr
    while isinstance(rest, tree.Attribute):
        parts.append(rest.name)
        rest = rest.object
    if not isinstance(rest, tree.Name):
        raise fail("ADP002", "a place is a path such as `attention.q`, or a pattern in quotes", expr.span)
    return ".".join([rest.id, *reversed(parts)])
