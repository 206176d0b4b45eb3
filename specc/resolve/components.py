"""From a constructor in the text to a typed component: known names, right types, every default filled in."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError

from specc.components.registry import axes_of, axis_of_field, load, members
from specc.diagnostics.finding import Diagnostic, SpecError, did_you_mean, fail
from specc.ir.node import Component, Dims
from specc.resolve.evaluate import evaluate
from specc.resolve.paths import read_paths
from specc.resolve.scope import Scope
from specc.resolve.values import Constructor, LayerRef, Source, Symbol, describe
from specc.resolve.work import COMPONENT
from specc.source import Span
from specc.syntax import tree


def build(value: Any, axes: tuple[str, ...], dims: Dims, span: Span, scope: Scope) -> Component:
    """The component that a value names on one of the axes. Raises SpecError; several findings where there are several."""
    scope.work.spend(COMPONENT, span)
    constructor = _constructor(value, axes, span, scope)
    axis = next((axis for axis in axes if constructor.name in members(axis)), None)
    if axis is None:
        raise _unknown(constructor.name, axes, constructor.span)
    return _Builder(load(axis, constructor.name), constructor, dims).build()


def _constructor(value: Any, axes: tuple[str, ...], span: Span, scope: Scope) -> Constructor:
    match value:
        case Constructor():
            return value
        case Symbol():
            return Constructor(value.name, (), scope, value.span)
        case None if any("none" in members(axis) for axis in axes):
            return Constructor("none", (), scope, span)
    raise fail("TYP001", f"this needs one of the {_axes(axes)}, and it is {describe(value)}", span)


def _axes(axes: tuple[str, ...]) -> str:
    names = [f"{axis} variants" for axis in axes]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" or {names[-1]}"


def _unknown(name: str, axes: tuple[str, ...], span: Span) -> SpecError:
    known = [kind for axis in axes for kind in members(axis)]
    elsewhere = axes_of(name)
    hint = f"`{name}` is a variant of `{elsewhere[0]}`" if elsewhere else did_you_mean(name, known)
    return fail("NAM001", f"no {_axes(axes)[:-1]} is called `{name}`", span, hint)


class _Builder:
    """One call being built: its arguments are evaluated in their own scope, with the call's other fields in reach."""

    def __init__(self, cls: type[Component], call: Constructor, dims: Dims) -> None:
        self.cls, self.call, self.dims = cls, call, dims
        self.wrong: list[Diagnostic] = []
        self.arguments = self._named()
        self.values: dict[str, Any] = {}
        self.words: set[str] = set()  # fields whose value is a bare word that nothing binds
        self.open: dict[str, None] = {}
        self.scope = call.scope.child(siblings=self._sibling)

    def _named(self) -> dict[str, tree.Argument]:
        """The arguments by field name; what is wrong with those that have no place is kept."""
        found: dict[str, tree.Argument] = {}
        known = self._known()
        for number, argument in enumerate(self.call.arguments):
            if len(self.wrong) >= MOST_WRONG:
                break
            name = argument.name or next(iter(self.cls.positional[number : number + 1]), None)
            if name is None:
                self.wrong.append(Diagnostic("NAM003", self._nameless(), argument.span, self._fields()))
            elif name not in known:
                hint = did_you_mean(name, known) or self._fields()
                self.wrong.append(Diagnostic("NAM002", f"`{self.call.name}` has no field `{name}`", argument.span, hint))
            elif name in found:
                self.wrong.append(Diagnostic("NAM005", f"`{name}` is given twice", argument.span))
            else:
                found[name] = argument
        return found

    def _nameless(self) -> str:
        names = " and ".join(f"`{name}`" for name in self.cls.positional)
        return f"`{self.call.name}` takes " + (f"only {names} without a name" if names else "its fields by name")

    def _known(self) -> list[str]:
        return [name for name in self.cls.model_fields if name != "kind"]

    def _fields(self) -> str | None:
        return f"its fields: {', '.join(self._known())}" if self._known() else "it has no fields"

    def build(self) -> Component:
        wrong = self.wrong
        for name in self.arguments:
            try:
                self._value(name)
            except SpecError as error:
                wrong += error.diagnostics
        if wrong:
            raise SpecError(dict.fromkeys(wrong))
        complete = self.cls.complete({n: v for n, v in self.values.items() if v is not None}, self.dims)
        try:
            component = self.cls(**complete)
        except ValidationError as error:
            raise self._explain(error, complete) from None
        self._check(component)
        return component

    def _check(self, component: Component) -> None:
        if wrong := [d for f in component.check(self.dims) for d in fail(f.code, f.message, self.span(f.field), f.help).diagnostics]:
            raise SpecError(wrong)

    def span(self, name: str) -> Span:
        return self.arguments[name].span if name in self.arguments else self.call.span

    def _sibling(self, name: str) -> Any:
        """Another field of this call, given or by default: `scale: head_dim ** -0.5`."""
        if name not in self._known():
            return None
        if name in self.open:
            circle = " -> ".join([*list(self.open)[list(self.open).index(name) :], name])
            raise fail("VAL005", f"`{name}` is defined by itself: {circle}", self.span(name))
        self.scope.work.depth += 5
        try:
            if name in self.arguments:
                return self._value(name)
            given = {n: self._value(n) for n in self.arguments if n not in self.open}
        finally:
            self.scope.work.depth -= 5
        return self.cls.complete({n: v for n, v in given.items() if v is not None}, self.dims).get(name)

    def _value(self, name: str) -> Any:
        if name not in self.values:
            self.open[name] = None
            argument = self.arguments[name]
            try:
                chosen = self._choice(name, argument.value)
                value = evaluate(argument.value, self.scope) if chosen is None else chosen
                self.values[name] = self._typed(name, value, argument.value.span)
            finally:
                self.open.pop(name)
        return self.values[name]

    def _choice(self, name: str, expr: tree.Expr) -> Any:
        """A bare word where the field takes one of a few words is that word, whatever the model calls by its name."""
        if self.cls.holds_paths(name):
            return list(read_paths(expr, self.call.scope))
        taken = words(self.cls.model_fields[name].annotation)
        if isinstance(expr, tree.Name) and expr.id in taken:
            return expr.id
        if isinstance(expr, tree.ListOf) and expr.items and all(isinstance(e, tree.Name) and e.id in taken for e in expr.items):
            return [e.id for e in expr.items]
        return None

    def _typed(self, name: str, value: Any, span: Span) -> Any:
        """A value of the language as the field's type wants it."""
        if axis := axis_of_field(self.cls, name):
            if value is None and self._optional(name):
                return None
            return self._held(axis, build(value, (axis,), self.dims, span, self.scope), span)
        if isinstance(value, (list, tuple)):
            return tuple(self._typed(name, item, span) for item in value)
        if isinstance(value, Symbol):
            self.words.add(name)
            return value.name
        if isinstance(value, (Constructor, LayerRef, Source)):
            raise fail("TYP001", f"`{name}` does not take {describe(value)}", span)
        return value

    def _held(self, axis: str, part: Component, span: Span) -> Component:
        """A component in a slot. Raises SpecError where its parameters would have no place."""
        if axis == "activation" and not self.cls.holds_activation and part.parameters(self.dims):
            raise fail("CAP008", f"`{part.kind}` has parameters of its own, and `{self.call.name}` has no place for them", span)
        return part

    def _optional(self, name: str) -> bool:
        return type(None) in get_args(self.cls.model_fields[name].annotation)

    def _explain(self, error: ValidationError, given: dict[str, Any]) -> SpecError:
        """Pydantic's findings as diagnostics on the text that caused them, in specc's words."""
        found = []
        for detail in error.errors():
            name = str(detail["loc"][0]) if detail["loc"] else "kind"
            found += self._diagnose(name, detail, given).diagnostics
        return SpecError(dict.fromkeys(found))

    def _diagnose(self, name: str, detail: Any, given: dict[str, Any]) -> SpecError:
        if (detail["type"] == "missing" and len(detail["loc"]) > 1) or detail["type"] == "too_long":
            return fail("TYP001", f"`{name}` takes another number of values than the {len(given[name])} given", self.span(name))
        if detail["type"] == "missing":
            explain = getattr(self.cls, "missing", None)
            if explain and (found := explain(name, given, self.dims)):
                return fail(found.code, found.message, self.span(found.field), found.help)
            if name in self.arguments:
                return self._absent(name)
            return fail("VAL002", f"`{self.call.name}` needs `{name}:`", self.call.span, self._fields())
        value = describe(detail["input"])
        if name in self.words and isinstance(detail["input"], str):
            value = f"the word `{detail['input']}`, which nothing here binds"
        if detail["type"] in BOUNDS:
            bound = {n: int(v) if isinstance(v, float) and v.is_integer() else v for n, v in detail["ctx"].items()}
            return fail("VAL001", f"`{name}` must be {BOUNDS[detail['type']].format(**bound)}, and it is {value}", self.span(name))
        if detail["type"] == "literal_error":
            expected = detail["ctx"]["expected"].replace("'", "`")
            word = f"`{detail['input']}`" if isinstance(detail["input"], str) else value
            return fail("VAL009", f"`{name}` is one of {expected}, and not {word}", self.span(name))
        if name == "bias" and not isinstance(detail["input"], tuple):
            return fail("TYP001", f"`bias` is true, false or a list of roles, and it is {value}", self.span(name))
        return fail("TYP001", f"`{name}` must be {TYPES.get(detail['type'], 'of another type')}, and it is {value}", self.span(name))

    def _absent(self, name: str) -> SpecError:
        text = self.arguments[name].value.span.text
        return fail("VAL002", f"`{self.call.name}` needs `{name}:`, and `{text}` is none", self.span(name))


def words(annotation: Any) -> frozenset[str]:
    """The words that a type's literals allow."""
    if get_origin(annotation) is Literal:
        return frozenset(w for w in get_args(annotation) if isinstance(w, str))
    return frozenset(w for part in get_args(annotation) for w in words(part))


MOST_WRONG = 20  # fields of one call that are named as wrong
BOUNDS = {
    "greater_than": "greater than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
}
TYPES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "a word",
    "tuple_type": "a list",
}
