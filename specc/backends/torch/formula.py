"""Wiring as Python: the formula of a block or of an embedding, statement by statement."""

from __future__ import annotations

import keyword
from collections.abc import Callable
from dataclasses import dataclass, field

from specc.backends.torch.numbers import literal
from specc.ir.wiring import Add, Assign, Call, Ref, Scale, Wire

ROOM = 104  # the longest expression that stays on one line; with its target and the indent it reaches 120
_TAKEN = {"self", "mask", "past", "present", "attended", "rope", "torch", "F", "nn"}
_SUM, _PRODUCT, _ATOM = range(3)


@dataclass(slots=True)
class Called:
    """A call as an expression, or, where it gives more than one value, the statement that binds its result first."""

    expression: str
    before: tuple[str, ...] = ()


@dataclass(slots=True)
class Formula:
    """Collects statements. `call(call, texts of the inputs)` prints one sublayer."""

    call: Callable[[Call, list[str]], Called]
    rename: bool = False
    lines: list[str] = field(default_factory=list)

    def assign(self, assign: Assign) -> None:
        self.bind(self.name(assign.name), assign.value)

    def bind(self, name: str, wire: Wire) -> None:
        """One statement, or as many as it takes to stay within the line."""
        before = list(self.lines)
        text, _ = self.expression(wire)
        if len(text) > ROOM:
            self.lines = before
            text, _ = self.expression(wire, stepwise=True)
        if text != name:
            self.lines.append(f"{name} = {text}")

    @staticmethod
    def name(name: str) -> str:
        """A name of the formula as Python may have it."""
        return f"{name}_" if name in _TAKEN or keyword.iskeyword(name) else name

    def expression(self, wire: Wire, stepwise: bool = False) -> tuple[str, int]:
        """Its text and what binds its parts; `stepwise` gives every call a line of its own."""
        match wire:
            case Ref(name=name):
                return self.name(name), _ATOM
            case Add(terms=terms):
                return " + ".join(self.expression(term, stepwise)[0] for term in terms), _SUM
            case Scale(factor=factor, of=of):
                text, level = self.expression(of, stepwise)
                return f"{literal(factor)} * {text if level == _ATOM else f'({text})'}", _PRODUCT
            case Call(instance=instance, inputs=inputs):
                called = self.call(wire, [self.expression(i, stepwise)[0] for i in inputs])
                self.lines += called.before
                if stepwise and not called.before:
                    step = instance.replace(".", "_") + "_out"
                    self.lines.append(f"{step} = {called.expression}")
                    return step, _ATOM
                return called.expression, _PRODUCT if " * " in called.expression else _ATOM
        raise AssertionError(wire)
