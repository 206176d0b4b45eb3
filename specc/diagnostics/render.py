"""Diagnostics as text for people and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable

from specc.diagnostics.finding import Diagnostic
from specc.source import Span


def text(found: Iterable[Diagnostic]) -> str:
    """Every diagnostic with its place, the line it is about, and what would be right."""
    return "\n".join(_one(d) for d in found)


def _one(found: Diagnostic) -> str:
    place = f"{found.span}: " if found.span else ""
    lines = [f"{place}{found.severity} {found.code}: {found.message}"]
    if found.span:
        lines += _excerpt(found.span)
    for span, note in found.notes:
        lines += [f"  {span}: {note}", *_excerpt(span)]
    if found.help:
        lines.append(f"  = help: {found.help}")
    return "\n".join(lines)


def _excerpt(span: Span) -> list[str]:
    """The first line of a span with carets under it."""
    line, column = span.source.position(span.start)
    content = span.source.line(line)
    if len(content) > 400 or not content:
        return []
    width = max(1, min(span.end - span.start, len(content) - column + 1))
    gutter = f"{line} | "
    tabs = "".join("\t" if c == "\t" else " " for c in content[: column - 1])
    return [f"  {gutter}{content}", f"  {' ' * (len(gutter) - 2)}| {tabs}{'^' * width}"]


def as_json(found: Iterable[Diagnostic]) -> str:
    return json.dumps([_record(d) for d in found], indent=2)


def _record(found: Diagnostic) -> dict:
    record = {"code": found.code, "severity": found.severity, "message": found.message, "help": found.help}
    if found.span:
        line, column = found.span.source.position(found.span.start)
        end_line, end_column = found.span.source.position(found.span.end)
        record |= {"file": found.span.source.name, "line": line, "column": column, "end_line": end_line, "end_column": end_column}
    return record
