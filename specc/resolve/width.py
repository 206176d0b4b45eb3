"""How wide the values of an embedding formula are, and how many tokens."""

from __future__ import annotations

from specc.diagnostics.finding import fail
from specc.ir.model import Instance
from specc.ir.node import Dims
from specc.ir.wiring import Add, Call, Concat, Insert, Scale, Wire
from specc.source import Span


def width_of(wire: Wire, instances: dict[str, Instance], span: Span) -> int:
    """The width of a formula's value. Raises SpecError where a sum joins different widths."""
    match wire:
        case Call():
            part = instances[wire.instance]
            return getattr(part.component, "width", part.width)
        case Scale():
            return width_of(wire.of, instances, span)
        case Add(terms=terms) | Concat(parts=terms):
            return _one_width([width_of(term, instances, span) for term in terms], span)
        case Insert():
            return _one_width([width_of(wire.what, instances, span), width_of(wire.into, instances, span)], span)
    raise AssertionError(wire)


def _one_width(widths: list[int], span: Span) -> int:
    if len(set(widths)) > 1:
        raise fail("SHP004", f"values {' and '.join(map(str, dict.fromkeys(widths)))} wide are joined", span)
    return widths[0]


def tokens_of(wire: Wire, instances: dict[str, Instance], dims: Dims, span: Span) -> int:
    """How many tokens a formula makes of an image of the model's own size. Raises SpecError where terms differ in that."""
    match wire:
        case Call(inputs=()):
            component = instances[wire.instance].component
            if (count := component.tokens(dims)) is None:
                raise fail("IMG002", f"`{component.kind}` belongs to text, and this model reads images", span)
            return count
        case Call(inputs=(of,)) | Scale(of=of):
            return tokens_of(of, instances, dims, span)
        case Concat():
            return sum(tokens_of(part, instances, dims, span) for part in wire.parts)
        case Insert():
            into = tokens_of(wire.into, instances, dims, span)
            if wire.at > into:
                raise fail("IMG001", f"behind {wire.at} of {into} tokens there is no place to insert", span)
            return into + tokens_of(wire.what, instances, dims, span)
        case Add():
            counts = [tokens_of(term, instances, dims, span) for term in wire.terms]
            if len(set(counts)) > 1:
                raise fail("IMG001", f"a sum joins {' and '.join(map(str, dict.fromkeys(counts)))} tokens", span)
            return counts[0]
    raise AssertionError(wire)
