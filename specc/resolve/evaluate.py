"""Expressions to values. No loop but the bounded `for`, no recursion of the text's own, 64-bit integers, finite floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from specc.diagnostics.finding import fail
from specc.resolve.functions import FUNCTIONS
from specc.resolve.scope import Scope
from specc.resolve.values import Constructor, LayerRef, Record, Repeated, Run, Source, Symbol, describe
from specc.resolve.work import DEPTH, Work
from specc.source import Span
from specc.syntax import tree

MOST_ITEMS = 10_000


def evaluate(expr: tree.Expr, scope: Scope) -> Any:
    """The value of an expression. Raises SpecError where it has none."""
    work = scope.work
    work.spend(1, expr.span)
    if work.depth >= DEPTH:
        raise work.too_deep(expr.span)
    work.depth += 2
    try:
        return KINDS[type(expr)](expr, scope)
    finally:
        work.depth -= 2


def _literal(expr: tree.Literal, scope: Scope) -> Any:
    return bounded(expr.value, expr.span)


def _name(expr: tree.Name, scope: Scope) -> Any:
    return scope.lookup(expr.id, expr.span)


def _list(expr: tree.ListOf, scope: Scope) -> list[Any]:
    items = []
    for item in expr.items:  # not a comprehension: those take a frame of the stack
        items.append(evaluate(item, scope))
    return items


def _for(expr: tree.For, scope: Scope) -> list[Any]:
    items, found = evaluate(expr.over, scope), []
    if not isinstance(items, list):
        raise fail("TYP002", f"`for` goes over a list, and this is {describe(items)}", expr.over.span)
    for item in items:
        found.append(evaluate(expr.body, scope.child({expr.name: item})))
    return found


def _repeat(expr: tree.Repeat, scope: Scope) -> Repeated:
    return Repeated(tuple(evaluate(expr.items, scope)))


def _unary(expr: tree.Unary, scope: Scope) -> int | float:
    value = _number(evaluate(expr.operand, scope), expr.operand.span)
    return bounded(-value if expr.operator == "-" else value, expr.span)


def _if(expr: tree.If, scope: Scope) -> Any:
    return evaluate(expr.yes if truth(evaluate(expr.condition, scope), expr.condition.span) else expr.no, scope)


def _match(expr: tree.Match, scope: Scope) -> Any:
    return evaluate(chosen_arm(expr, evaluate(expr.subject, scope), scope.work).value, scope)


def bounded(value: Any, span: Span) -> Any:
    """The value, if it is a number that specc computes with."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise fail("LIM011", "this integer does not fit 64 bits", span)
    if isinstance(value, float) and not math.isfinite(value):
        raise fail("LIM012", "this number is not finite", span)
    return value


def truth(value: Any, span: Span) -> bool:
    if not isinstance(value, bool):
        raise fail("TYP003", f"a condition is true or false, and this is {describe(value)}", span)
    return value


def chosen_arm(expr: tree.Match, subject: Any, work: Work) -> tree.Arm:
    """The arm whose pattern equals the subject, or the `else` arm. Raises SpecError where none fits."""
    for arm in expr.arms:
        if arm.pattern is None or same(arm.pattern.value, subject, work, expr.subject.span):
            return arm
    known = ", ".join(f'"{a.pattern.value}"' if isinstance(a.pattern.value, str) else str(a.pattern.value) for a in expr.arms if a.pattern)
    raise fail("VAL006", f"no arm of this `match` fits {describe(subject)}", expr.subject.span, f"it knows {known}")


def same(a: Any, b: Any, work: Work, span: Span) -> bool:
    """Equality as the language has it: a bare word equals the string of its name, and true is not 1."""
    waiting = [(a, b)]
    while waiting:
        a, b = (v.name if isinstance(v, Symbol) else v for v in waiting.pop())
        work.spend(1 + len(a) // 64 if isinstance(a, (str, list)) else 1, span)
        if isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            waiting += zip(a, b, strict=True)
        elif isinstance(a, Repeated) and isinstance(b, Repeated):
            waiting.append((list(a.items), list(b.items)))
        elif isinstance(a, Record) or isinstance(b, Record):
            if a is not b:
                return False
        elif isinstance(a, bool) != isinstance(b, bool) or isinstance(a, Constructor) or a != b:
            return False
    return True


def _number(value: Any, span: Span) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise fail("TYP004", f"this needs a number, and it is {describe(value)}", span)
    return value


def _call(expr: tree.Call, scope: Scope) -> Any:
    match expr.function:
        case tree.Name(id=name) if name in FUNCTIONS and name not in scope.variables:
            scope.work.depth += 2
            try:
                return FUNCTIONS[name](expr, scope, evaluate)
            finally:
                scope.work.depth -= 2
        case tree.Name(id=name):
            return Constructor(name, expr.arguments, scope, expr.span)
    raise fail("TYP006", "only a block or the embedding calls sublayers like this", expr.span)


def _attribute(expr: tree.Attribute, scope: Scope) -> Any:
    if isinstance(expr.object, tree.Name) and expr.object.id == "layer" and expr.name == "index" and "layer" not in scope.variables:
        return scope.layer_index(expr.span)
    value = evaluate(expr.object, scope)
    match value:
        case Record():
            return bounded(value.get(expr.name), expr.span)
        case None:
            return None  # a part of a config that is absent has no parts either
    raise fail("TYP007", f"{describe(value)} has no parts, so there is no `.{expr.name}`", expr.span)


def _index(expr: tree.Index, scope: Scope) -> Any:
    value, index = evaluate(expr.object, scope), evaluate(expr.index, scope)
    if not isinstance(value, list) or isinstance(index, bool) or not isinstance(index, int):
        raise fail("TYP008", f"`[...]` picks an item of a list by number; this is {describe(value)} at {describe(index)}", expr.span)
    if not -len(value) <= index < len(value):
        raise fail("VAL007", f"the list has {len(value)} items, so there is no item {index}", expr.span)
    return value[index]


def _binary(expr: tree.Binary, scope: Scope) -> Any:
    operator = expr.operator
    if operator in ("??", "and", "or"):
        return _lazy(expr, scope)
    left, right = evaluate(expr.left, scope), evaluate(expr.right, scope)
    if operator == "|":
        return _alternatives(left, right, expr, scope.work)
    if operator == "*" and isinstance(right, LayerRef):
        if isinstance(left, bool) or not isinstance(left, int) or left < 0:
            raise fail("TYP004", f"a layer is repeated a whole number of times, not {describe(left)}", expr.left.span)
        if left > MOST_ITEMS:
            raise fail("LIM010", f"{left:,} layers are more than the {MOST_ITEMS:,} that specc takes", expr.span)
        return Run(left, right)
    if operator in ("==", "!="):
        return same(left, right, scope.work, expr.span) == (operator == "==")
    if operator == "+" and isinstance(left, list) and isinstance(right, list):
        scope.work.spend(len(left) + len(right), expr.span)
        if len(left) + len(right) > MOST_ITEMS:
            raise fail(
                "LIM010", f"a list of {len(left) + len(right):,} items is longer than the {MOST_ITEMS:,} that specc takes", expr.span
            )
        return left + right
    left, right = _number(left, expr.left.span), _number(right, expr.right.span)
    return bounded(_arithmetic(operator, left, right, expr.span), expr.span)


def _lazy(expr: tree.Binary, scope: Scope) -> Any:
    left = evaluate(expr.left, scope)
    if expr.operator == "??":
        return evaluate(expr.right, scope) if left is None else left
    if truth(left, expr.left.span) == (expr.operator == "or"):
        return left
    return truth(evaluate(expr.right, scope), expr.right.span)


def _alternatives(left: Any, right: Any, expr: tree.Binary, work: Work) -> Source:
    names = []
    for value, side in ((left, expr.left), (right, expr.right)):
        value = Source("tensor", (value,)) if isinstance(value, str) else value
        if not isinstance(value, Source) or value.operation != "tensor":
            raise fail("TYP009", f"`|` joins alternative names, and this is {describe(value)}", side.span)
        work.spend(len(value.names), side.span)
        names += value.names
    return Source("tensor", tuple(names))


def _arithmetic(operator: str, left: int | float, right: int | float, span: Span) -> Any:
    try:
        match operator:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/":
                quotient = left / right
                return left // right if isinstance(left, int) and isinstance(right, int) and left % right == 0 else quotient
            case "//":
                return left // right
            case "%":
                return left % right
            case "**":
                return _power(left, right, span)
            case "<":
                return left < right
            case "<=":
                return left <= right
            case ">":
                return left > right
            case ">=":
                return left >= right
    except ZeroDivisionError:
        raise fail("VAL008", "division by zero", span) from None
    except OverflowError:
        raise fail("LIM012", "this number is not finite", span) from None
    raise AssertionError(operator)


def _power(base: int | float, exponent: int | float, span: Span) -> int | float:
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0 and abs(base) > 1 and exponent * math.log2(abs(base)) > 64:
        raise fail("LIM011", "this integer does not fit 64 bits", span)
    if base < 0 and not float(exponent).is_integer():
        raise fail("VAL008", "a negative number has no such power", span)
    return base**exponent


KINDS: dict[type, Callable[[Any, Scope], Any]] = {
    tree.Literal: _literal,
    tree.Name: _name,
    tree.ListOf: _list,
    tree.For: _for,
    tree.Repeat: _repeat,
    tree.Call: _call,
    tree.Attribute: _attribute,
    tree.Index: _index,
    tree.Unary: _unary,
    tree.Binary: _binary,
    tree.If: _if,
    tree.Match: _match,
}
