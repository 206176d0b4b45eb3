"""Every diagnostic specc can report: a stable code, its meaning, and a wrong and a right example.

`specc explain CODE` prints an entry; tests/diagnostics proves that each wrong example gets its code and each right one
does not. The entries themselves stand in one module per room, in `specc/diagnostics/table/`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """One diagnostic. `wrong` and `right` are whole spec files; empty where no spec text can cause it."""

    id: str
    title: str
    cause: str
    wrong: str = ""
    right: str = ""


class _Table(dict[str, Code]):
    def add(self, *codes: Code) -> None:
        for code in codes:
            if code.id in self:
                raise KeyError(f"diagnostic code {code.id} is in the table twice")
            self[code.id] = code


CODES = _Table()

from specc.diagnostics import table as _table  # noqa: E402  (fills CODES)

_table.fill(CODES)
