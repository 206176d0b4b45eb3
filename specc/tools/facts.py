"""The facts that a model's `checks` may name, and whether the checks hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from specc.diagnostics.finding import Report, SpecError, did_you_mean, fail
from specc.resolve.evaluate import evaluate
from specc.resolve.model import Resolved
from specc.resolve.values import Symbol, describe
from specc.resolve.work import LAYER
from specc.syntax import tree
from specc.tools.analyse import BYTES, Costs

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
PLAIN = {
    "params": lambda costs: costs.parameters,
    "active_params": lambda costs: costs.active,
    "dim": lambda costs: costs.model.stack.dims.dim,
    "depth": lambda costs: costs.model.stack.dims.depth,
    "vocab": lambda costs: costs.model.stack.dims.vocab,
    "context": lambda costs: costs.model.stack.dims.context,
}
CALLED = {
    "kv_cache": ({"tokens": int, "dtype": str}, lambda costs, tokens, dtype="bf16": costs.kv_cache(tokens, dtype)),
    "weights": ({"dtype": str}, lambda costs, dtype="fp32": costs.weight_bytes(dtype)),
    "flops": ({"context": int}, lambda costs, context: costs.flops(context)),
}


def check_facts(resolved: Resolved, report: Report) -> None:
    """Evaluates every check of a model; each that does not hold is an error with the value found."""
    costs = Costs(resolved.model)
    layers = sum(len(stack.layers) for stack in resolved.model.stacks)
    for check in resolved.body.checks:
        try:
            resolved.scope.work.spend(LAYER * layers, check.span)
            value = fact_value(check.fact, costs, resolved)
            wanted = evaluate(check.value, resolved.scope)
        except SpecError as error:
            report.add(*error.diagnostics)
            continue
        if isinstance(wanted, bool) or not isinstance(wanted, (int, float)) or not isinstance(value, (int, float)):
            report.error("TYP004", f"a check compares numbers, and this one {describe(value)} with {describe(wanted)}", check.span)
        elif not OPERATORS[check.operator](value, wanted):
            report.error(
                "CHK001",
                f"this check does not hold: `{check.fact.span.text}` is {value:_}",
                check.span,
                f"the text says {check.operator} {wanted:_}",
            )


def fact_value(fact: tree.Expr, costs: Costs, resolved: Resolved) -> Any:
    match fact:
        case tree.Name(id=name) if name in PLAIN:
            return PLAIN[name](costs)
        case tree.Call(function=tree.Name(id=name)) if name in CALLED:
            return _called(name, fact, costs, resolved)
    name = fact.function.span.text if isinstance(fact, tree.Call) else fact.span.text
    raise fail("NAM014", f"there is no fact called `{name}`", fact.span, did_you_mean(name, [*PLAIN, *(f"{n}(...)" for n in CALLED)]))


def _called(name: str, call: tree.Call, costs: Costs, resolved: Resolved) -> Any:
    types, function = CALLED[name]
    given = {}
    for argument in call.arguments:
        if argument.name not in types:
            raise fail(
                "NAM002",
                f"`{name}` has no field `{argument.name or argument.span.text}`",
                argument.span,
                did_you_mean(argument.name or "", types),
            )
        value = evaluate(argument.value, resolved.scope)
        value = value.name if isinstance(value, Symbol) else value
        if not isinstance(value, types[argument.name]) or isinstance(value, bool):
            raise fail("TYP001", f"`{argument.name}` does not take {describe(value)}", argument.span)
        if argument.name == "dtype" and value not in BYTES:
            raise fail("VAL009", f"`dtype` is one of {', '.join(BYTES)}, and not `{value}`", argument.span)
        given[argument.name] = value
    if missing := [n for n, t in types.items() if t is int and n not in given]:
        raise fail("VAL002", f"`{name}` needs `{missing[0]}:`", call.span)
    return function(costs, **given)
