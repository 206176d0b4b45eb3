"""What a fact comes to: a figure of the whole model, or a field of a sublayer, in every kind of layer that has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from specc.components.registry import AXES
from specc.diagnostics.finding import did_you_mean, fail
from specc.ir.model import Layer
from specc.ir.node import Component
from specc.resolve.components import words
from specc.resolve.evaluate import evaluate
from specc.resolve.functions import FUNCTIONS
from specc.resolve.model import Resolved
from specc.resolve.reach import parts
from specc.resolve.values import Symbol, describe
from specc.syntax import tree
from specc.tools.analyse import BYTES, Costs

PLAIN = {
    "params": lambda costs: costs.parameters,
    "active_params": lambda costs: costs.active,
    "dim": lambda costs: costs.model.stack.dims.dim,
    "depth": lambda costs: costs.model.stack.dims.depth,
    "vocab": lambda costs: costs.model.stack.dims.vocab,
    "context": lambda costs: costs.model.stack.dims.context,
    "flops_per_image": lambda costs: costs.per_image,
}
CALLED = {
    "kv_cache": ({"tokens": int, "dtype": str}, lambda costs, tokens, dtype="bf16": costs.kv_cache(tokens, dtype)),
    "weights": ({"dtype": str}, lambda costs, dtype="fp32": costs.weight_bytes(dtype)),
    "flops": ({"context": int}, lambda costs, context: costs.flops(context)),
}
MOST_PLACES = 1_000


@dataclass(frozen=True, slots=True)
class Facts:
    """Reads facts of one model. `at`: the component that each field of the model stands for where a check is looked at."""

    resolved: Resolved
    costs: Costs
    at: dict[str, Component] = field(default_factory=dict)

    def places(self, check: tree.Check) -> Iterator[tuple[Facts, str]]:
        """Where a check has to hold: once, or at every different choice of the sublayers whose fields it asks for."""
        wanted = dict.fromkeys(asked for side in (check.fact, check.value) for asked in self._asked(side))
        if not wanted:
            yield self, ""
            return
        seen: list[dict[str, Component]] = []
        for at, where in self._choices(list(dict.fromkeys(name for name, _ in wanted))):
            if all(part in type(at[name]).model_fields for name, part in wanted) and at not in seen:
                seen.append(at)
                yield replace(self, at=at), where
        if not seen:
            name, part = next(iter(wanted))
            raise fail("NAM014", f"no `{name}` of this model has a field `{part}`", check.span, self._known(name, part))

    def value(self, expr: tree.Expr, own: bool) -> Any:
        """The value of one side. own: whether names of the model go before facts, as they do on the right."""
        scope = self.resolved.scope
        match expr:
            case tree.Name(id=name) if name in PLAIN and not (own and name in scope.fields):
                return PLAIN[name](self.costs)
            case tree.Name(id=name) if not own and name not in scope.fields:
                raise self._unknown(name, expr)
            case tree.Attribute(object=tree.Name(id=name), name=part) if name in self.at:
                return getattr(self.at[name], part)
            case tree.Call(function=tree.Name(id=name)) if name in CALLED:
                return self._called(name, expr)
            case tree.Call(function=tree.Name(id=name)) if name not in FUNCTIONS and not own:
                raise self._unknown(name, expr)
            case tree.Attribute() | tree.Call(function=tree.Attribute()) if not own:
                raise self._unknown(expr.span.text if isinstance(expr, tree.Attribute) else expr.function.span.text, expr)
            case tree.Binary():
                expr = replace(expr, left=self._literal(expr.left, own), right=self._literal(expr.right, True))
            case tree.Unary():
                expr = replace(expr, operand=self._literal(expr.operand, own))
            case tree.Call():
                arguments = (replace(a, value=self._literal(a.value, True)) if a.name is None else a for a in expr.arguments)
                expr = replace(expr, arguments=tuple(arguments))
        return evaluate(expr, scope)

    def word(self, check: tree.Check) -> str | None:
        """The right side, where it is one of the few words that the field on the left takes, whatever the model calls by it."""
        match check.fact, check.value:
            case tree.Attribute(object=tree.Name(id=name), name=part), tree.Name(id=word) if name in self.at:
                return word if word in words(type(self.at[name]).model_fields[part].annotation) else None
        return None

    def _literal(self, expr: tree.Expr, own: bool) -> tree.Expr:
        """The expression, or what it comes to where that is a plain value."""
        if isinstance(expr, (tree.Literal, tree.ListOf)):
            return expr
        value = self.value(expr, own)
        value = value.kind if isinstance(value, Component) else value
        return tree.Literal(value, expr.span) if value is None or isinstance(value, (bool, int, float, str)) else expr

    # ---- fields of sublayers

    def _asked(self, side: tree.Expr) -> Iterator[tuple[str, str]]:
        """`attention.heads`: every field of a sublayer that a side asks for."""
        fields = self.resolved.body.fields
        for expr in parts(side):
            if (
                isinstance(expr, tree.Attribute)
                and isinstance(expr.object, tree.Name)
                and (expr.object.id in AXES or expr.object.id in fields)
            ):
                yield expr.object.id, expr.name

    def _choices(self, names: list[str]) -> Iterator[tuple[dict[str, Component], str]]:
        """Every choice of a component for each name, layer by layer, those that are alike once."""
        model = self.resolved.model
        heads = [head.component for head in model.heads]
        count = 0
        for stack in model.stacks:
            known: set[int] = set()
            for number, layer in enumerate(stack.layers):
                if id(layer) in known:
                    continue
                known.add(id(layer))
                found = [heads if name == "head" else _in_layer(layer, name) for name in names]
                inside = f"{stack.name + ' ' if stack.name else ''}layer {number}"
                for chosen in product(*found):
                    count += 1
                    if count > MOST_PLACES:
                        return
                    yield dict(zip(names, chosen, strict=True)), "" if names == ["head"] else f" in {inside}"

    def _known(self, name: str, part: str) -> str | None:
        classes = {type(c) for at, _ in self._choices([name]) for c in at.values()}
        fields = sorted({n for cls in classes for n in cls.model_fields if n != "kind"})
        return did_you_mean(part, fields) if fields else None

    # ---- figures

    def _unknown(self, name: str, expr: tree.Expr) -> Exception:
        known = [*PLAIN, *(f"{n}(...)" for n in CALLED), "architecture", "layout"]
        return fail("NAM014", f"there is no fact called `{name}`", expr.span, did_you_mean(name, known))

    def _called(self, name: str, call: tree.Call) -> Any:
        types, function = CALLED[name]
        given = {}
        for argument in call.arguments:
            if argument.name not in types:
                message = f"`{name}` has no field `{argument.name or argument.span.text}`"
                raise fail("NAM002", message, argument.span, did_you_mean(argument.name or "", types))
            value = evaluate(argument.value, self.resolved.scope)
            value = value.name if isinstance(value, Symbol) else value
            if not isinstance(value, types[argument.name]) or isinstance(value, bool):
                raise fail("TYP001", f"`{argument.name}` does not take {describe(value)}", argument.span)
            if argument.name == "dtype" and value not in BYTES:
                raise fail("VAL009", f"`dtype` is one of {', '.join(BYTES)}, and not `{value}`", argument.span)
            given[argument.name] = value
        if missing := [n for n, t in types.items() if t is int and n not in given]:
            raise fail("VAL002", f"`{name}` needs `{missing[0]}:`", call.span)
        return function(self.costs, **given)


def _in_layer(layer: Layer, name: str) -> list[Component]:
    """What a field of the model stands for in one layer."""
    if name in ("position", "mask"):
        return [getattr(layer, name)]
    return [i.component for i in layer.instances if i.path.partition(".")[0] == name]
