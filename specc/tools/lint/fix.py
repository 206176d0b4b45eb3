"""Mending what is mechanical: ignores of no use go, misspelt fields become what specc suggests. Nothing else is touched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from specc.diagnostics.edits import applied, edit_of
from specc.tools.lint.run import Examined, Examiner
from specc.tools.settings import Settings

PASSES = 5  # a mended mistake may have hidden another


def fix(paths: list[Path], settings: Callable[[Path], Settings], write: Callable[[Path, str], None]) -> tuple[list[Examined], int]:
    """Mends the files. -> what is left to find, and how many edits were made.

    A file in which an edited line would be wrong in another way stays as it is: a suggestion is a guess.
    """
    examined, total = Examiner(settings).examine(paths), 0
    refused: set[Path] = set()
    for _ in range(PASSES):
        made: dict[Path, tuple[str, str, int]] = {}
        for one in examined:
            edits = [e for d in one.found if (e := edit_of(d)) is not None and e.source is one.source]
            if one.source is not None and edits and one.path not in refused:
                text, count = applied(one.source.text, edits)
                write(one.path, text)
                made[one.path] = (one.source.text, text, count)
        if not made:
            break
        before = {one.path: {(d.code, d.message) for d in one.found} for one in examined}
        after = Examiner(settings).examine(paths)
        worse = {one.path for one in after if one.path in made and _worse(one, before[one.path], *made[one.path][:2])}
        for path in worse:
            write(path, made[path][0])
        refused |= worse
        total += sum(count for path, (_, _, count) in made.items() if path not in worse)
        examined = Examiner(settings).examine(paths) if worse else after
    return examined, total


def _worse(one: Examined, known: set[tuple[str, str]], old: str, new: str) -> bool:
    """Whether a line that was edited has an error that was not there before."""
    changed = set(new.splitlines()) - set(old.splitlines())
    fresh = (d for d in one.found if d.severity == "error" and (d.code, d.message) not in known and d.span is not None)
    return any(d.span.source.line(d.span.line) in changed for d in fresh)
