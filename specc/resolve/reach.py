"""How far a change reaches: which fields of a model depend on a layer's overrides, or on the layer's number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from specc.resolve.work import Work
from specc.source import Span
from specc.syntax import tree

INDEX = "layer.index"


class Reach:
    """The fields of one model, each with the fields that mention it. What merely might depend counts as depending."""

    def __init__(self, fields: dict[str, tree.Field]) -> None:
        self.dependents: dict[str, list[str]] = {}
        for name, field in fields.items():
            for mentioned in mentions(field.value):
                self.dependents.setdefault(mentioned, []).append(name)

    def of(self, names: Iterable[str], work: Work, span: Span) -> frozenset[str]:
        """The names themselves, and every field that depends on one of them or on `layer.index`."""
        found, waiting = set(names), [INDEX, *names]
        while waiting:
            for name in self.dependents.get(waiting.pop(), ()):
                if name not in found:
                    found.add(name)
                    waiting.append(name)
        work.spend(len(found), span)
        return frozenset(found)


def mentions(expr: tree.Expr) -> set[str]:
    """Every name in an expression, and `layer.index` where it stands there."""
    found = set()
    for part in parts(expr):
        if isinstance(part, tree.Name):
            found.add(part.id)
        elif isinstance(part, tree.Attribute) and isinstance(part.object, tree.Name) and (part.object.id, part.name) == ("layer", "index"):
            found.add(INDEX)
    return found


def parts(expr: tree.Expr) -> Iterator[tree.Expr]:
    """An expression and every expression inside it, without recursion."""
    waiting = [expr]
    while waiting:
        expr = waiting.pop()
        yield expr
        waiting += reversed(inside(expr))


def inside(expr: tree.Expr) -> tuple[tree.Expr, ...]:
    """The expressions directly inside one."""
    match expr:
        case tree.ListOf():
            return expr.items
        case tree.For():
            return (expr.over, expr.body)
        case tree.Repeat():
            return (expr.items,)
        case tree.Call():
            return (expr.function, *(a.value for a in expr.arguments))
        case tree.Attribute():
            return (expr.object,)
        case tree.Index():
            return (expr.object, expr.index)
        case tree.Unary():
            return (expr.operand,)
        case tree.Binary():
            return (expr.left, expr.right)
        case tree.If():
            return (expr.condition, expr.yes, expr.no)
        case tree.Match():
            return (expr.subject, *(a.value for a in expr.arms))
    return ()
