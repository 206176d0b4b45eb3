"""A family with its config filled in, back to text: what the config decides is computed, everything else stays as written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from specc.diagnostics.finding import SpecError
from specc.resolve.evaluate import chosen_arm, evaluate, truth
from specc.resolve.functions import FUNCTIONS
from specc.resolve.parts import KNOWN
from specc.resolve.reach import parts
from specc.resolve.scope import Scope
from specc.resolve.values import Constructor, LayerRef, Run, Source, Symbol
from specc.source import Span
from specc.syntax import tree


class Reducer:
    """Reduces expressions of one family. An expression that does not depend on the config is left as it is."""

    def __init__(self, fields: dict[str, tree.Field], parameters: tuple[str, ...]) -> None:
        self.fields = fields
        self.parameters = set(parameters)

    def reduce(self, expr: tree.Expr, scope: Scope) -> tree.Expr:
        """The expression with every part that the config decides replaced by its value."""
        if not self.depends(expr, scope):
            return expr
        match expr:
            case tree.If():
                taken = expr.yes if truth(evaluate(expr.condition, scope), expr.condition.span) else expr.no
                return self.reduce(taken, scope)
            case tree.Match():
                return self.reduce(chosen_arm(expr, evaluate(expr.subject, scope), scope.work).value, scope)
            case tree.Binary(operator="??"):
                return self.reduce(expr.right if evaluate(expr.left, scope) is None else expr.left, scope)
            case tree.ListOf():
                return replace(expr, items=tuple(self.reduce(item, scope) for item in expr.items))
            case tree.Call(function=tree.Name(id=name)) if name not in FUNCTIONS:
                return self._call(expr, scope)
        if not self._open(expr, scope):
            return self.literal(evaluate(expr, scope), expr.span)
        match expr:
            case tree.Binary():
                return replace(expr, left=self.reduce(expr.left, scope), right=self.reduce(expr.right, scope))
            case tree.Unary():
                return replace(expr, operand=self.reduce(expr.operand, scope))
            case tree.Call():
                arguments = tuple(replace(a, value=self.reduce(a.value, scope)) for a in expr.arguments)
                return replace(expr, arguments=arguments)
        return expr

    def _call(self, expr: tree.Call, scope: Scope) -> tree.Expr:
        """A constructor: its arguments reduced, those that came to none left out."""
        kept = []
        for argument in expr.arguments:
            value = self.reduce(argument.value, scope)
            if not (isinstance(value, tree.Literal) and value.value is None and value != argument.value):
                kept.append(replace(argument, value=value))
        return replace(expr, arguments=tuple(kept))

    # ---- what depends on what

    def depends(self, expr: tree.Expr, scope: Scope, seen: frozenset[str] = frozenset()) -> bool:
        """Whether the config, or a loop over it, has a say in an expression."""
        for name in names_in(expr):
            if name in self.parameters or (scope.parent is not None and self._is_variable(name, scope)):
                return True
            if name in scope.root.fields and name not in KNOWN and name not in seen:
                if self.depends(scope.root.fields[name].value, scope, seen | {name}):
                    return True
        return any(isinstance(e, tree.Call) and isinstance(e.function, tree.Name) and e.function.id == "stored" for e in parts(expr))

    def _is_variable(self, name: str, scope: Scope) -> bool:
        while scope is not None:
            if name in scope.variables:
                return True
            scope = scope.parent
        return False

    def _open(self, expr: tree.Expr, scope: Scope) -> bool:
        """Whether a part of it has no value yet: the layer's index, or a field of the call it stands in."""
        for part in parts(expr):
            if isinstance(part, tree.Call) and not (isinstance(part.function, tree.Name) and part.function.id in FUNCTIONS):
                return True  # a formula of sublayers
            if isinstance(part, tree.Attribute) and isinstance(part.object, tree.Name) and (part.object.id, part.name) == ("layer", "index"):
                return True
        arithmetic = [e for e in parts(expr) if isinstance(e, (tree.Binary, tree.Unary))]
        try:
            return bool(arithmetic) and any(isinstance(evaluate(tree.Name(n, expr.span), scope), Symbol) for n in names_in(expr) if n != "layer")
        except SpecError:
            return False

    # ---- values to text

    def literal(self, value: Any, span: Span) -> tree.Expr:
        """A value as an expression that evaluates to it."""
        match value:
            case Symbol():
                return tree.Name(value.name, span)
            case Constructor():
                arguments = tuple(replace(a, value=self.reduce(a.value, value.scope)) for a in value.arguments)
                call = tree.Call(tree.Name(value.name, span), arguments, span)
                return self._call(call, value.scope)
            case list():
                return tree.ListOf(tuple(self.literal(item, span) for item in value), span)
            case LayerRef():
                return layer_text(value, span)
            case Run():
                return tree.Binary("*", tree.Literal(value.count, span), self.literal(value.layer, span), span)
            case Source():
                return self._source(value, span)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
            return tree.Unary("-", tree.Literal(-value, span), span)
        return tree.Literal(value, span)

    def _source(self, value: Source, span: Span) -> tree.Expr:
        if value.operation == "tensor":
            first, *rest = [tree.Literal(name, span) for name in value.names]
            for name in rest:
                first = tree.Binary("|", first, name, span)
            return first
        arguments = [tree.Argument(None, self._source(value.of, span), span)]
        if value.order:
            arguments.append(tree.Argument("order", tree.ListOf(tuple(tree.Name(p, span) for p in value.order), span), span))
        if value.flat:
            arguments.append(tree.Argument("flat", tree.Literal(True, span), span))
        if value.groups > 1:
            arguments.append(tree.Argument("groups", tree.Literal(value.groups, span), span))
        name = "interleaved" if value.operation == "fused" and value.groups == 0 else value.operation
        return tree.Call(tree.Name(name, span), tuple(arguments), span)


def layer_text(layer: LayerRef, span: Span) -> tree.Expr:
    """A layer of `layers`."""
    name = tree.Name(layer.label, span)
    if layer.shared is None:
        return name
    numbers = (tree.Literal(layer.shared, span),) if layer.shared else ()
    return tree.Call(tree.Name("same", span), tuple(tree.Argument(None, part, span) for part in (name, *numbers)), span)


def names_in(expr: tree.Expr) -> set[str]:
    """Every plain name that an expression mentions, those of called functions left out."""
    called = {id(e.function) for e in parts(expr) if isinstance(e, tree.Call)}
    return {e.id for e in parts(expr) if isinstance(e, tree.Name) and id(e) not in called}
