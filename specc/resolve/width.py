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


def check_patches(wire: Wire, instances: dict[str, Instance], dims: Dims, span: Span) -> None:
    """Heads and tables of positions take the patches for the last tokens. Raises SpecError where they are not."""
    kinds = [kind for kind, count in _runs(wire, instances, dims) if count]
    if "patch" not in kinds:
        raise fail("IMG001", "the embedding of an image model holds no patches of the image", span, "`patches()` makes them")
    if any(kind != "patch" for kind in kinds[kinds.index("patch") :]):
        raise fail("IMG001", "the patches are the last tokens of an image, row by row, and others stand behind them here", span)


def _runs(wire: Wire, instances: dict[str, Instance], dims: Dims) -> list[tuple[str, int]]:
    """What the tokens of a formula stand for, in runs."""
    match wire:
        case Call(inputs=()):
            component = instances[wire.instance].component
            return [(component.stands_for, component.tokens(dims))]
        case Call(inputs=(of,)) | Scale(of=of):
            return _runs(of, instances, dims)
        case Concat():
            return [run for part in wire.parts for run in _runs(part, instances, dims)]
        case Insert():
            before, after, left = [], [], wire.at
            for kind, count in _runs(wire.into, instances, dims):
                here = min(left, count)
                before.append((kind, here))
                after.append((kind, count - here))
                left -= here
            return before + _runs(wire.what, instances, dims) + after
        case Add():
            terms = [_runs(term, instances, dims) for term in wire.terms]
            return next((runs for runs in terms if any(kind != "position" for kind, _ in runs)), terms[0])
    raise AssertionError(wire)


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
