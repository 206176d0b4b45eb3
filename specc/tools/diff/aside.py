"""What no checkpoint depends on: training fields, checks, the model's name, its comments."""

from __future__ import annotations

from collections.abc import Iterator

from specc.resolve.model import Resolved
from specc.syntax.printer import print_statement
from specc.tools.diff.places import comments, place_of
from specc.tools.diff.reason import Level, Reason
from specc.tools.spell import spell


def aside(old: Resolved, new: Resolved) -> Iterator[Reason]:
    for name in type(old.model.training).model_fields:
        was, now = getattr(old.model.training, name), getattr(new.model.training, name)
        if was != now:
            places = place_of(old, name), place_of(new, name)
            yield Reason("training", "changed", name, spell(was), spell(now), Level.UNCHANGED, f"/training/{name}", *places)
    before, after = _checks(old), _checks(new)
    for text in (t for t in before if t not in after):
        yield Reason("checks", "removed", "checks", text, None, Level.UNCHANGED, old_at=before[text])
    for text in (t for t in after if t not in before):
        yield Reason("checks", "added", "checks", None, text, Level.UNCHANGED, new_at=after[text])
    if old.model.name != new.model.name:
        yield Reason("names", "renamed", "model", old.model.name, new.model.name, Level.RENAMED, "/name")
    if old.model.doc != new.model.doc:
        yield Reason("names", "changed", "doc", level=Level.RENAMED, pointer="/doc")
    elif list(comments(old)) != list(comments(new)):
        yield Reason("names", "changed", "comments", level=Level.RENAMED)


def _checks(side: Resolved) -> dict[str, str]:
    """Every check as it is printed, with its place."""
    return {print_statement(check): f"{check.span.source.name}:{check.span.line}" for check in side.body.checks}
