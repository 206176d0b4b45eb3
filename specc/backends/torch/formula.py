"""Wiring as Python: the formula of a block or of an embedding, statement by statement."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from specc.backends.torch.numbers import literal
from specc.ir.wiring import Add, Assign, Call, Concat, Insert, Ref, Scale, Wire

ROOM = 112  # the longest statement that fits on a line of 120 under the indent of a method
_TAKEN = {"self", "mask", "weights", "memory_mask", "past", "present", "attended", "rope", "relative", "tables", "torch", "F", "nn"}
_OURS = re.compile(r"(attended|present)_\d+|\w+_out\d*_*")  # what statements here bind beside the formula's own names
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
    lines: list[str] = field(default_factory=list)
    start: int = 0  # where the statement begins that is being printed step by step

    def assign(self, assign: Assign) -> None:
        self.bind(self.name(assign.name), assign.value)

    def bind(self, name: str, wire: Wire) -> None:
        """One statement, or as many as it takes to stay within the line."""
        before = list(self.lines)
        text, _ = self.expression(wire)
        if len(f"{name} = {text}") <= ROOM:
            if text != name:
                self.lines.append(f"{name} = {text}")
            return
        self.lines = before
        match wire:
            case Scale(factor=factor, of=of):
                self.bind(name, of)
                self.lines.append(f"{name} = {literal(factor)} * {name}")
            case Call(inputs=(of,)) if not isinstance(of, Ref):
                self.bind(name, of)
                self.bind(name, wire.model_copy(update={"inputs": (Ref(name=name),)}))
            case Add(terms=(*terms, last)) if not _reads(last, name) and terms != [Ref(name=name)]:
                self.bind(name, terms[0] if len(terms) == 1 else Add(terms=tuple(terms)))
                self.bind(name, Add(terms=(Ref(name=name), last)))
            case Concat(parts=(*parts, last)) if not _reads(last, name) and parts != [Ref(name=name)]:
                self.bind(name, parts[0] if len(parts) == 1 else Concat(parts=tuple(parts)))
                self.bind(name, Concat(parts=(Ref(name=name), last)))
            case Insert(into=into) if not isinstance(into, Ref) and not _reads(wire.what, name):
                self.bind(name, into)
                self.bind(name, wire.model_copy(update={"into": Ref(name=name)}))
            case _:
                self.start = len(self.lines)
                text, _ = self.expression(wire, stepwise=True)
                self.lines.append(f"{name} = {text}")

    @staticmethod
    def name(name: str) -> str:
        """A name of the formula as Python may have it."""
        return f"{name}_" if name in _TAKEN or keyword.iskeyword(name) or _OURS.fullmatch(name) else name

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
            case Concat(parts=parts):
                return f"torch.cat(({', '.join(self.expression(part, stepwise)[0] for part in parts)}), dim=1)", _ATOM
            case Insert(what=what, at=at, into=into):
                whole = self.name(into.name) if isinstance(into, Ref) else "x"
                if not isinstance(into, Ref):  # it is read twice
                    self.bind(whole, into)
                return f"torch.cat(({whole}[:, :{at}], {self.expression(what, stepwise)[0]}, {whole}[:, {at}:]), dim=1)", _ATOM
            case Call(instance=instance, inputs=inputs):
                called = self.call(wire, [self.expression(i, stepwise)[0] for i in inputs])
                self.lines += called.before
                if stepwise and not called.before:
                    step = stem = f"{instance.replace('.', '_')}_out"
                    while any(line.startswith(f"{step} = ") for line in self.lines[self.start :]):
                        step = f"{stem}{int(step.removeprefix(stem) or 1) + 1}"
                    self.lines.append(f"{step} = {called.expression}")
                    return step, _ATOM
                return called.expression, _PRODUCT if " * " in called.expression else _ATOM
        raise AssertionError(wire)


def _reads(wire: Wire, name: str) -> bool:
    """Whether a formula's value depends on a name; what a name binds is written back, so it may not."""
    match wire:
        case Ref(name=read):
            return read == name
        case Add(terms=parts) | Call(inputs=parts):
            return any(_reads(part, name) for part in parts)
        case Scale(of=of):
            return _reads(of, name)
        case Concat(parts=parts):
            return any(_reads(part, name) for part in parts)
        case Insert():
            return _reads(wire.what, name) or _reads(wire.into, name)
    raise AssertionError(wire)
