"""Where names get their meaning: loop variables and parameters, then the model's fields, then bare symbols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from specc.diagnostics.finding import Report, fail
from specc.resolve.values import LayerRef, Symbol
from specc.resolve.work import Work
from specc.source import Span
from specc.syntax import tree


@dataclass(slots=True, eq=False)
class Scope:
    """The names of one model (or of one layer of it, over the model's).

    `fields` are evaluated when first asked for, in this scope, so that an override in a layer reaches every field that
    refers to it. What no override and no `layer.index` reaches is evaluated once, in the model's scope (`base`), for all
    layers. Reading `layer.index` marks the scope, so that its owner evaluates again for each layer.
    """

    fields: dict[str, tree.Field]
    report: Report
    evaluate: Callable[[tree.Expr, Scope], Any]
    variables: dict[str, Any] = field(default_factory=dict)
    layers: dict[str, tree.Layer] = field(default_factory=dict)
    index: int | None = None
    index_read: bool = False
    used: set[str] = field(default_factory=set)
    work: Work = field(default_factory=Work)
    siblings: Callable[[str], Any] | None = None
    parent: Scope | None = None
    base: Scope | None = None
    changed: frozenset[str] = frozenset()  # what this scope evaluates for itself
    _values: dict[str, Any] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)

    def lookup(self, name: str, span: Span) -> Any:
        if self.parent is None:
            return self._at_root(name, span)
        inner, scopes = self, []
        while inner.parent is not None and name not in inner.variables:
            scopes.append(inner)
            inner = inner.parent
        found = inner._at_root(name, span) if inner.parent is None else inner.variables[name]
        for scope in reversed(scopes):  # the outermost call answers first
            if isinstance(found, Symbol) and scope.siblings is not None and (value := scope.siblings(name)) is not None:
                found = value
        return found

    def _at_root(self, name: str, span: Span) -> Any:
        if name in self.variables:
            return self.variables[name]
        if name in self.fields:
            return self.field(name, span)
        if name in self.layers:
            self.used.add(name)
            return LayerRef(name)
        return Symbol(name, span)

    def field(self, name: str, span: Span) -> Any:
        """The value of a field of the model. Raises SpecError where it depends on itself."""
        if self.base is not None and name not in self.changed:
            return self.base.field(name, span)
        self.used.add(name)
        if name not in self._values:
            if name in self._open:
                circle = " -> ".join([*self._open[self._open.index(name) :], name])
                raise fail("VAL005", f"`{name}` is defined by itself: {circle}", span)
            self._open.append(name)
            self.work.depth += 3
            try:
                self._values[name] = self.evaluate(self.fields[name].value, self)
            finally:
                self.work.depth -= 3
                self._open.pop()
        return self._values[name]

    def evaluated(self, name: str) -> bool:
        """Whether a field of this very scope has been asked for."""
        return name in self._values

    def child(self, variables: dict[str, Any] | None = None, siblings: Callable[[str], Any] | None = None) -> Scope:
        """A scope inside this one: with a loop variable, or with the arguments of a call as a last resort."""
        return Scope({}, self.report, self.evaluate, variables or {}, work=self.work, siblings=siblings, parent=self)

    def over(self, fields: dict[str, tree.Field], index: int, changed: frozenset[str] | None = None) -> Scope:
        """The scope of one layer: the model's fields with the layer's on top. `changed`: what differs from the model's
        (specc.resolve.reach); without it everything is evaluated again."""
        merged = self.fields | fields
        base = None if changed is None else self
        return Scope(
            merged, self.report, self.evaluate, self.variables, self.layers, index, used=self.used, work=self.work,
            base=base, changed=changed or frozenset(),
        )  # fmt: skip

    @property
    def root(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def layer_index(self, span: Span) -> int:
        root = self.root
        root.index_read = True
        if root.index is None:
            raise fail("NAM004", "`layer.index` has a value only in fields that each layer evaluates", span)
        return root.index
