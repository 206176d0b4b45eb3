"""What an editor offers to do about a finding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from specc.diagnostics.edits import Edit, edit_of
from specc.diagnostics.finding import Diagnostic
from specc.tools.settings import can_be_ignored

SUGGESTION = re.compile(r"did you mean `([A-Za-z_][\w.]*)`\?")
FIRST = re.compile(r"[A-Za-z_][\w.]*")


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do. certain: whether `specc check --fix` would do it by itself."""

    title: str
    edit: Edit
    certain: bool


def actions(found: Diagnostic) -> Iterator[Action]:
    """What `specc check --fix` would do, else what the finding suggests; for what may be ignored, a comment that does."""
    edit = edit_of(found)
    if edit is not None:
        yield Action(f"replace with `{edit.text}`" if edit.text else "remove the ignore", edit, True)
    elif (guess := _guess(found)) is not None:
        yield Action(f"replace with `{guess.text}`", guess, False)
    if (
        found.span is not None
        and found.code != "LNT004"
        and (found.severity == "warning" or can_be_ignored(found.code))
        and not _has_one(found)
    ):
        yield Action(f"ignore {found.code} on this line", _ignore(found), False)


def _guess(found: Diagnostic) -> Edit | None:
    """A suggested name in place of the misspelt one, where the text begins with the name that the message quotes."""
    suggestion = SUGGESTION.fullmatch(found.help or "")
    name = FIRST.match(found.span.text) if suggestion and found.span is not None else None
    if name is None or f"`{name[0]}`" not in found.message:
        return None
    return Edit(found.span.source, found.span.start, found.span.start + len(name[0]), suggestion[1])


def _has_one(found: Diagnostic) -> bool:
    return "specc: ignore" in found.span.source.line(found.span.line)


def _ignore(found: Diagnostic) -> Edit:
    """A comment at the end of the line; its reason is the user's to write, and a finding until then."""
    source, start = found.span.source, found.span.start
    end = source.text.find("\n", start)
    end = len(source.text) if end < 0 else end
    end -= source.text.endswith("\r", start, end)
    return Edit(source, end, end, f"  # specc: ignore[{found.code}]")
