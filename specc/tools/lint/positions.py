"""Lint rules on positions: how far a scheme reaches, and whether there is one."""

from __future__ import annotations

import math
from collections.abc import Iterator

from specc.diagnostics.finding import Diagnostic
from specc.ir.model import Layer
from specc.resolve.model import Resolved
from specc.tools.lint.blame import layers, place, warning


def two_schemes(resolved: Resolved) -> Iterator[Diagnostic]:
    """LNT013"""
    added = _added(resolved)
    turned = [layer for layer in layers(resolved) if layer.position.kind != "none" and not layer.position.beside_absolute]
    if added and turned:
        message = f"`{turned[0].position.kind}` and `{added}` both tell positions apart"
        span = place(resolved, "position", "", turned[0])
        yield warning(resolved, "LNT013", message, span, "keep one of them")


def past_the_scaling(resolved: Resolved) -> Iterator[Diagnostic]:
    """LNT014"""
    context = resolved.model.stack.dims.context
    for layer in layers(resolved):
        scaling = getattr(layer.position, "scaling", None)
        if context is None or getattr(scaling, "kind", "") != "yarn":  # the other factors bound no context, or follow from it
            continue
        reach = round(scaling.factor * scaling.original)
        if context > reach:
            message = f"a context of {context:_}, and this scaling stretches {scaling.original:_} positions to {reach:_}"
            help = f"`factor: {context / scaling.original:g}` would reach, or `context = {reach:_}`"
            yield warning(resolved, "LNT014", message, place(resolved, "position", "scaling", layer), help)


def full_turn(resolved: Resolved) -> Iterator[Diagnostic]:
    """LNT015"""
    for layer in layers(resolved):
        rope, reach = layer.position, _seen(resolved, layer)
        if rope.kind != "rope" or rope.scaling is not None or reach is None:
            continue
        for part in layer.instances:
            if part.component.axis != "attention":
                continue
            width = rope.width(getattr(part.component, "rope_dim", None) or part.component.head_dim)
            turn = 2 * math.pi * rope.theta ** ((width - 2) / width)  # positions in which the slowest pair comes round
            if reach > turn:
                message = f"every pair of channels turns right round within {reach:_} positions (the slowest in {int(turn):_})"
                span = place(resolved, "position", "theta", layer)
                yield warning(resolved, "LNT015", message, span, "a larger `theta`, a scaling, or a shorter context")


def window_that_holds_all(resolved: Resolved) -> Iterator[Diagnostic]:
    """LNT018"""
    context = resolved.model.stack.dims.context
    for layer in layers(resolved):
        if context is not None and layer.mask.reach is not None and layer.mask.reach >= context:
            message = f"a window of {layer.mask.reach:_} over a context of {context:_} hides nothing"
            yield warning(resolved, "LNT018", message, place(resolved, "mask", "", layer), "`mask = causal` says the same, and runs faster")


def no_order(resolved: Resolved) -> Iterator[Diagnostic]:
    """LNT020"""
    if not _added(resolved) and all(layer.position.kind == "none" and layer.mask.kind == "bidirectional" for layer in layers(resolved)):
        message = "nothing tells this model the order of its tokens"
        yield warning(resolved, "LNT020", message, place(resolved, "embed"), "add a `position`, or `learned_position()` to `embed`")


def _added(resolved: Resolved) -> str:
    """The embedding's own positional part, if it has one."""
    return next((i.component.kind for i in resolved.model.stack.embedding.instances if i.component.kind.endswith("_position")), "")


def _seen(resolved: Resolved, layer: Layer) -> int | None:
    """The largest distance over which a layer compares positions."""
    context, reach = resolved.model.stack.dims.context, layer.mask.reach
    return context if reach is None or context is None else min(context, reach)
