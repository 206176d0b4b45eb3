"""GitHub workflow commands: each finding becomes an annotation on its line of the pull request."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from specc.diagnostics.formats import Group, keys, place_of


def render(groups: Sequence[Group], base: Path) -> str:
    lines = []
    for found, group, _ in keys(groups, base):
        path, line, column, last, end = place_of(found, group, base)
        values: dict[str, str | int] = {}
        if found.span is not None:
            values = {"file": path, "line": line, "col": column, "endLine": last}
            if last == line:  # columns of two lines are refused
                values["endColumn"] = max(end - 1, column)
        elif group.name:
            values["file"] = path
        values["title"] = f"specc {found.code}"
        properties = ",".join(f"{name}={_property(str(value))}" for name, value in values.items())
        message = found.message + (f"\nhelp: {found.help}" if found.help else "")
        lines.append(f"::{found.severity} {properties}::{_data(message)}")
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
