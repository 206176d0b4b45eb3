"""The facts that a model's `checks` may name, and whether the checks hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from specc.diagnostics.finding import Report, SpecError, fail
from specc.ir.node import Component
from specc.resolve.evaluate import same
from specc.resolve.model import Resolved
from specc.resolve.values import Constructor, Symbol, describe
from specc.resolve.work import LAYER
from specc.syntax import tree
from specc.tools.analyse import Costs
from specc.tools.fact_values import Facts
from specc.tools.other_model import OTHER, Finder, against

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def check_facts(resolved: Resolved, report: Report, finder: Finder | None = None) -> None:
    """Evaluates every check of a model; each that does not hold is an error with the value found.

    finder: gives the models that checks compare with, by the file that they lie in.
    """
    costs = Costs(resolved.model)
    layers = sum(len(stack.layers) for stack in resolved.model.stacks)
    for check in resolved.body.checks:
        try:
            resolved.scope.work.spend(LAYER * layers, check.span)
            if isinstance(check.fact, tree.Name) and check.fact.id in OTHER:
                against(check, resolved, finder, report)
                continue
            for value, wanted, where in values(check, costs, resolved):
                if not _holds(check, value, wanted, resolved):
                    message = f"this check does not hold: `{check.fact.span.text}` is {said(value)}{where}"
                    report.error("CHK001", message, check.span, f"the text says {check.operator} {said(wanted)}")
        except SpecError as error:
            report.add(*error.diagnostics)


def values(check: tree.Check, costs: Costs, resolved: Resolved) -> Iterator[tuple[Any, Any, str]]:
    """Both sides of a check, and where: once, or for each kind of layer where it asks for a field of a sublayer.

    Raises SpecError where one side has no value.
    """
    for facts, where in Facts(resolved, costs).places(check):
        wanted = facts.word(check) or facts.value(check.value, own=True)
        yield _plain(facts.value(check.fact, own=False)), _plain(wanted), where


def _plain(value: Any) -> Any:
    """Components and bare words by their names, so that one can be compared with the other."""
    if isinstance(value, Component):
        return value.kind
    if isinstance(value, (Symbol, Constructor)):
        return value.name
    return list(value) if isinstance(value, tuple) else value


def _holds(check: tree.Check, value: Any, wanted: Any, resolved: Resolved) -> bool:
    numbers = [isinstance(v, (int, float)) and not isinstance(v, bool) for v in (value, wanted)]
    kinds = {type(v) for v in (value, wanted) if v is not None}
    comparable = all(numbers) or (check.operator in ("==", "!=") and not any(numbers) and len(kinds) < 2)
    absent = check.operator in ("==", "!=") and (wanted is None or isinstance(check.fact, tree.Attribute)) and None in (value, wanted)
    if not comparable and not absent:
        message = f"a check compares numbers, and this one {describe(value)} with {describe(wanted)}"
        raise fail("TYP004", message, check.span)
    if all(numbers):
        return OPERATORS[check.operator](value, wanted)
    return same(value, wanted, resolved.scope.work, check.span) == (check.operator == "==")


def said(value: Any) -> str:
    """A value in the words of a message."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{int(value):_}" if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else f"{value:_}"
    if isinstance(value, list):
        return f"[{', '.join(map(said, value))}]"
    return value if isinstance(value, str) else describe(value)
