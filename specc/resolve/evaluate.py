"""Expressions to values. No loop but the bounded `for`, no recursion of the text's own, 64-bit integers, finite floats."""

from __future__ import annotations

import math
from typing import Any

from specc.diagnostics.finding import fail
from specc.resolve.functions import FUNCTIONS
from specc.resolve.scope import Scope
from specc.resolve.values import Constructor, LayerRef, Record, Repeated, Run, Source, Symbol, describe
from specc.source import Span
from specc.syntax import tree

MOST_ITEMS = 10_000


def evaluate(expr: tree.Expr, scope: Scope) -> Any:
    """The value of an expression. Raises SpecError where it has none."""
    scope.step(expr.span)
    match expr:
        case tree.Literal():
            return bounded(expr.value, expr.span)
        case tree.Name():
            return scope.lookup(expr.id, expr.span)
        case tree.ListOf():
            return [evaluate(item, scope) for item in expr.items]
        case tree.For():
            items = evaluate(expr.over, scope)
            if not isinstance(items, list):
                raise fail("TYP002", f"`for` goes over a list, and this is {describe(items)}", expr.over.span)
            return [evaluate(expr.body, scope.child({expr.name: item})) for item in items]
        case tree.Repeat():
            return Repeated(tuple(evaluate(expr.items, scope)))
        case tree.Call():
            return _call(expr, scope)
        case tree.Attribute():
            return _attribute(expr, scope)
        case tree.Index():
            return _index(expr, scope)
        case tree.Unary():
            value = _number(evaluate(expr.operand, scope), expr.operand.span)
            return bounded(-value if expr.operator == "-" else value, expr.span)
        case tree.Binary():
            return _binary(expr, scope)
        case tree.If():
            return evaluate(expr.yes if truth(evaluate(expr.condition, scope), expr.condition.span) else expr.no, scope)
        case tree.Match():
            return evaluate(chosen_arm(expr, evaluate(expr.subject, scope)).value, scope)
    raise AssertionError(expr)


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


def chosen_arm(expr: tree.Match, subject: Any) -> tree.Arm:
    """The arm whose pattern equals the subject, or the `else` arm. Raises SpecError where none fits."""
    for arm in expr.arms:
        if arm.pattern is None or same(arm.pattern.value, subject):
            return arm
    known = ", ".join(f'"{a.pattern.value}"' if isinstance(a.pattern.value, str) else str(a.pattern.value) for a in expr.arms if a.pattern)
    raise fail("VAL006", f"no arm of this `match` fits {describe(subject)}", expr.subject.span, f"it knows {known}")


def same(a: Any, b: Any) -> bool:
    """Equality as the language has it: a bare word equals the string of its name, and true is not 1."""
    a, b = (v.name if isinstance(v, Symbol) else v for v in (a, b))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and not isinstance(a, Constructor) and a == b


def _number(value: Any, span: Span) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise fail("TYP004", f"this needs a number, and it is {describe(value)}", span)
    return value


def _call(expr: tree.Call, scope: Scope) -> Any:
    match expr.function:
        case tree.Name(id=name) if name in FUNCTIONS and name not in scope.variables:
            return FUNCTIONS[name](expr, scope, evaluate)
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
        return _alternatives(left, right, expr)
    if operator == "*" and isinstance(right, LayerRef):
        if isinstance(left, bool) or not isinstance(left, int) or left < 0:
            raise fail("TYP004", f"a layer is repeated a whole number of times, not {describe(left)}", expr.left.span)
        if left > MOST_ITEMS:
            raise fail("LIM010", f"{left} layers are more than the {MOST_ITEMS} that specc takes", expr.span)
        return Run(left, right)
    if operator in ("==", "!="):
        return same(left, right) == (operator == "==")
    if operator == "+" and isinstance(left, list) and isinstance(right, list):
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


def _alternatives(left: Any, right: Any, expr: tree.Binary) -> Source:
    names = []
    for value, side in ((left, expr.left), (right, expr.right)):
        value = Source("tensor", (value,)) if isinstance(value, str) else value
        if not isinstance(value, Source) or value.operation != "tensor":
            raise fail("TYP009", f"`|` joins alternative names, and this is {describe(value)}", side.span)
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
