"""The diagnostics of each room, one module per room."""

from specc.diagnostics.table import limits, syntax, weights


def fill(codes) -> None:
    for room in (syntax, limits, weights):
        codes.add(*room.codes())
