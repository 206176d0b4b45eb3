"""What a finding would have changed in the text, where that is certain: a misspelt field, an ignore of no use."""

from __future__ import annotations

import re
from dataclasses import dataclass

from specc.diagnostics.finding import Diagnostic
from specc.source import Source

FIELDS = ("NAM002", "NAM013")  # codes of misspelt fields
SUGGESTION = re.compile(r"did you mean `([A-Za-z_]\w*)`\?")
FIELD = re.compile(r"([A-Za-z_]\w*)(?=\s*:|\Z)")


@dataclass(frozen=True, slots=True)
class Edit:
    """Text in place of a range of the source."""

    source: Source
    start: int
    end: int
    text: str


def edit_of(found: Diagnostic) -> Edit | None:
    """The edit that a finding asks for, or None where a person has to decide."""
    span = found.span
    if span is None:
        return None
    if found.code == "LNT004":
        return _without(span.source, span.start, span.end)
    suggestion = SUGGESTION.fullmatch(found.help or "") if found.code in FIELDS else None
    name = FIELD.match(span.text) if suggestion else None
    if name and suggestion and found.code == "NAM013" and not _close(name[1], suggestion[1]):
        return None
    return Edit(span.source, span.start, span.start + len(name[1]), suggestion[1]) if suggestion and name else None


def _close(name: str, other: str) -> bool:
    """A model may bind names of its own: only a slip of the finger is certainly none."""
    from difflib import SequenceMatcher

    return SequenceMatcher(None, name, other).ratio() >= 0.8


def _without(source: Source, start: int, end: int) -> Edit:
    """Takes out a comment, with its line where it stands alone, or one code of its list."""
    text = source.text
    if text[start] != "#":
        behind, before = re.compile(r"\s*,[ \t]*").match(text, end), re.compile(r",[ \t]*\Z").search(text[:start])
        return Edit(source, start, behind.end(), "") if behind else Edit(source, before.start() if before else start, end, "")
    line = text.rfind("\n", 0, start) + 1
    if text[line:start].strip("\ufeff \t#"):
        return Edit(source, line + len(text[line:start].rstrip()), end, "")
    line += text.startswith("\ufeff", line)
    rest = re.compile(r"[ \t\r]*\n?").match(text, end)
    return Edit(source, line, rest.end() if rest else end, "")


def applied(text: str, edits: list[Edit]) -> tuple[str, int]:
    """The text with every edit that overlaps no earlier one, and how many those are."""
    done, at, count = [], 0, 0
    for edit in sorted(set(edits), key=lambda e: (e.start, e.end)):
        if edit.start >= at:
            done += [text[at : edit.start], edit.text]
            at, count = edit.end, count + 1
    return "".join([*done, text[at:]]), count
