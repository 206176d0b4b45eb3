"""Every diagnostic specc can report: a stable code, its meaning, and a wrong and a right example.

`specc explain CODE` prints an entry; tests/diagnostics proves that each wrong example gets its code and each right one
does not. The entries themselves stand in one module per room, in `specc/diagnostics/table/`, read when a finding is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Code:
    """One diagnostic. `wrong` and `right` are whole spec files; empty where no spec text can cause it."""

    id: str
    title: str
    cause: str
    wrong: str = ""
    right: str = ""


@cache
def all_codes() -> dict[str, Code]:
    """The whole table by code, in the order of its rooms."""
    from specc.diagnostics.table import rooms

    found: dict[str, Code] = {}
    for code in rooms():
        if code.id in found:
            raise KeyError(f"diagnostic code {code.id} is in the table twice")
        found[code.id] = code
    return found


def __getattr__(name: str) -> dict[str, Code]:
    """`CODES`: the table, filled when it is first asked for."""
    if name == "CODES":
        return all_codes()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
