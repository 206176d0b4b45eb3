"""Diagnostics as text for people and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable

from specc.diagnostics.finding import Diagnostic
from specc.source import Span

WIDEST = 400  # characters; a longer line is no help on a screen


def text(found: Iterable[Diagnostic]) -> str:
    """Every diagnostic with its place, the line it is about, and what would be right."""
    return "\n".join(_one(d) for d in found)


def _one(found: Diagnostic) -> str:
    place = f"{found.span}: " if found.span else ""
    lines = [_visible(f"{place}{found.severity} {found.code}: {found.message}")]
    if found.span:
        lines += _excerpt(found.span)
    for span, note in found.notes:
        lines += [_visible(f"  {span}: {note}"), *_excerpt(span)]
    if found.help:
        lines.append(_visible(f"  = help: {found.help}"))
    return "\n".join(lines)


def _visible(text: str) -> str:
    """Text as a terminal may show it: what would move its cursor, ring its bell or turn its words around is spelt out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _excerpt(span: Span) -> list[str]:
    """The first line of a span with carets under it."""
    line, column = span.source.position(span.start)
    content = span.source.line(line)
    if len(content) > WIDEST or not content:
        return []
    marked = content[column - 1 : column - 1 + max(span.end - span.start, 1)]
    gutter = f"{line} | "
    blank = "".join("\t" if c == "\t" else " " * _columns(c) for c in content[: column - 1])
    carets = "^" * max(1, sum(map(_columns, marked)))
    return [f"  {gutter}{''.join(map(_cell, content))}", f"  {' ' * (len(gutter) - 2)}| {blank}{carets}"]


def _cell(char: str) -> str:
    return char if char == "\t" or char.isprintable() else "\N{REPLACEMENT CHARACTER}"


def _columns(char: str) -> int:
    """How many columns a character takes on a terminal."""
    if char.isascii():
        return 1
    from unicodedata import combining, east_asian_width  # read only where a line needs it

    return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1


def as_json(found: Iterable[Diagnostic]) -> str:
    return json.dumps([_record(d) for d in found], indent=2)


def _record(found: Diagnostic) -> dict:
    notes = [_place(span) | {"message": note} for span, note in found.notes]
    record = {"code": found.code, "severity": found.severity, "message": found.message, "help": found.help, "notes": notes}
    return record | _place(found.span) if found.span else record


def _place(span: Span) -> dict:
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {"file": span.source.name, "line": line, "column": column, "end_line": end_line, "end_column": end_column}
