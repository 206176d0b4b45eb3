"""How wide the values of an embedding formula are."""

from __future__ import annotations

from specc.diagnostics.finding import fail
from specc.ir.model import Instance
from specc.ir.wiring import Add, Call, Scale, Wire
from specc.source import Span


def width_of(wire: Wire, instances: dict[str, Instance], span: Span) -> int:
    """The width of a formula's value. Raises SpecError where a sum joins different widths."""
    match wire:
        case Call():
            part = instances[wire.instance]
            return getattr(part.component, "width", part.width)
        case Scale():
            return width_of(wire.of, instances, span)
        case Add():
            widths = [width_of(term, instances, span) for term in wire.terms]
            if len(set(widths)) > 1:
                raise fail("SHP004", f"a sum joins values {' and '.join(map(str, dict.fromkeys(widths)))} wide", span)
            return widths[0]
    raise AssertionError(wire)
