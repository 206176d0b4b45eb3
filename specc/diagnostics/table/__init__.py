"""The diagnostics of each room, one module per room."""

from collections.abc import Iterator

from specc.diagnostics.codes import Code
from specc.diagnostics.table import (
    adapters,
    ci,
    config,
    images,
    limits,
    lint,
    lock,
    names,
    outputs,
    shapes,
    support,
    syntax,
    training,
    types,
    values,
    weights,
)


def rooms() -> Iterator[Code]:
    """Every entry, room by room."""
    for room in (syntax, limits, names, types, values, shapes, images, training, config, weights, adapters, support, outputs, lint, lock, ci):
        yield from room.codes()
