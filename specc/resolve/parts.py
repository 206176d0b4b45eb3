"""What the readers of a model's parts share: the model's text, its scope, its sizes, and how a field becomes a component."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from specc.components.registry import AXES, OF_TRAINING
from specc.diagnostics.finding import Report, SpecError, did_you_mean, fail
from specc.ir.node import Component, Dims
from specc.resolve.components import build
from specc.resolve.fields import Body
from specc.resolve.program import Program
from specc.resolve.scope import Scope
from specc.resolve.values import Constructor, Symbol, describe
from specc.syntax import tree

SIZES = ("vocab", "dim", "depth", "context")
RATES = ("dropout", "embed_dropout", "final_dropout", "attention_dropout")  # of training
OF_FAMILIES = ("sample", "ignore", "unread")  # fields that only a family states
INNER = ("scaling", "temperature", "router", "activation")  # axes whose variants stand inside other components
KNOWN = (*SIZES, *RATES, *(a for a in AXES if a not in ("activation", "temperature")), "cross", "kv_from", "final_norm", "block", "layers", "shared_tokens", "sample", "ignore")
MODEL_ONLY = (*SIZES, "input", "embed", "head", "layers", "final_norm", "shared_tokens", *OF_TRAINING)  # what no layer section overrides
Part = TypeVar("Part")


@dataclass(slots=True)
class Parts:
    """One model, or one of its two stacks, being read. `dims` is known once its sizes are.

    section: what a stack's own section states. memory: the width of the encoder's output, in a stack that may read it.
    """

    definition: tree.Model
    body: Body
    program: Program
    scope: Scope
    report: Report
    dims: Dims | None = None
    section: Body = field(default_factory=Body)
    memory: int | None = None
    shared: dict[tuple[str, tuple[str, ...]], Component | None] = field(default_factory=dict)  # what all layers have in common

    def attempt(self, part: Callable[[], Part]) -> Part | None:
        """One part of the model; what is wrong with it is kept, and the next part is looked at too."""
        try:
            return part()
        except SpecError as error:
            self.report.add(*error.diagnostics)

    def value(self, name: str, scope: Scope | None = None) -> Any:
        scope = scope or self.scope
        return scope.field(name, self.body.fields[name].span if name in self.body.fields else self.definition.name_span) if name in scope.fields else None

    def component(self, name: str, axes: tuple[str, ...], scope: Scope, dims: Dims) -> Component | None:
        """The component of a field; None where the field is absent or none."""
        if name not in scope.fields:
            return None
        common = scope.base is not None and name not in scope.changed
        if common and (name, axes) in self.shared:
            return self.shared[name, axes]
        value, span = self.value(name, scope), scope.fields[name].value.span
        found = None if value is None else build(value, axes, dims, span, scope.base if common and scope.base else scope)
        if common:
            self.shared[name, axes] = found
        return found

    def required(self, name: str, scope: Scope) -> Component:
        found = self.component(name, (name,), scope, self.dims)
        if found is None:
            raise fail("VAL002", f"the model `{self.definition.name}` states no `{name}`", self.definition.name_span, f"add `{name} = ...`")
        return found

    def block(self, scope: Scope) -> tree.Block:
        if "block" not in scope.fields:
            raise fail("VAL002", f"the model `{self.definition.name}` states no `block`", self.definition.name_span, "add `block = pre_norm`, for one")
        value, span = self.value("block", scope), scope.fields["block"].value.span
        blocks = self.program.blocks | self.body.blocks
        if not isinstance(value, Symbol) or value.name not in blocks:
            name = value.name if isinstance(value, (Symbol, Constructor)) else None
            raise fail("NAM012", f"no block is called {describe(value)}", span, did_you_mean(name, blocks) if name else None)
        return blocks[value.name]
