"""The diagnostics of each room, one module per room."""

from specc.diagnostics.table import config, limits, names, shapes, support, syntax, types, values, weights


def fill(codes) -> None:
    for room in (syntax, limits, names, types, values, shapes, config, weights, support):
        codes.add(*room.codes())
