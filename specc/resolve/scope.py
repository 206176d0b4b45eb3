"""Where names get their meaning: loop variables and parameters, then the model's fields, then bare symbols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from specc.diagnostics.finding import Report, fail
from specc.resolve.values import LayerRef, Symbol
from specc.source import Span
from specc.syntax import tree


@dataclass(slots=True, eq=False)
class Scope:
    """The names of one model (or of one layer of it, over the model's).

    `fields` are evaluated when first asked for, in this scope, so that an override in a layer reaches every field that
    refers to it. Reading `layer.index` marks the scope, so that its owner evaluates again for each layer.
    """

    fields: dict[str, tree.Field]
    report: Report
    evaluate: Callable[[tree.Expr, Scope], Any]
    variables: dict[str, Any] = field(default_factory=dict)
    layers: dict[str, tree.Layer] = field(default_factory=dict)
    index: int | None = None
    index_read: bool = False
    used: set[str] = field(default_factory=set)
    steps: list[int] = field(default_factory=lambda: [0])
    siblings: Callable[[str], Any] | None = None
    parent: Scope | None = None
    _values: dict[str, Any] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)

    def lookup(self, name: str, span: Span) -> Any:
        if name in self.variables:
            return self.variables[name]
        if self.parent is not None:
            found = self.parent.lookup(name, span)
            if isinstance(found, Symbol) and self.siblings is not None and (value := self.siblings(name)) is not None:
                return value
            return found
        if name in self.fields:
            return self.field(name, span)
        if name in self.layers:
            self.used.add(name)
            return LayerRef(name)
        return Symbol(name, span)

    def field(self, name: str, span: Span) -> Any:
        """The value of a field of the model. Raises SpecError where it depends on itself."""
        self.used.add(name)
        if name not in self._values:
            if name in self._open:
                circle = " -> ".join([*self._open[self._open.index(name) :], name])
                raise fail("VAL005", f"`{name}` is defined by itself: {circle}", span)
            self._open.append(name)
            try:
                self._values[name] = self.evaluate(self.fields[name].value, self)
            finally:
                self._open.pop()
        return self._values[name]

    def child(self, variables: dict[str, Any] | None = None, siblings: Callable[[str], Any] | None = None) -> Scope:
        """A scope inside this one: with a loop variable, or with the arguments of a call as a last resort."""
        return Scope({}, self.report, self.evaluate, variables or {}, steps=self.steps, siblings=siblings, parent=self)

    def over(self, fields: dict[str, tree.Field], index: int) -> Scope:
        """The scope of one layer: the model's fields with the layer's on top."""
        merged = self.fields | fields
        return Scope(merged, self.report, self.evaluate, self.variables, self.layers, index, used=self.used, steps=self.steps)

    @property
    def root(self) -> Scope:
        return self if self.parent is None else self.parent.root

    def layer_index(self, span: Span) -> int:
        root = self.root
        root.index_read = True
        if root.index is None:
            raise fail("NAM004", "`layer.index` has a value only in fields that each layer evaluates", span)
        return root.index

    def step(self, span: Span) -> None:
        """Counts work, so that no input can keep the compiler busy."""
        self.steps[0] += 1
        if self.steps[0] > 2_000_000:
            raise fail("LIM013", "evaluating this takes more than two million steps", span)
