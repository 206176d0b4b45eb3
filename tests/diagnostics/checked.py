"""A text checked as `specc check` does it."""

from __future__ import annotations

from pathlib import Path

from specc.diagnostics import Diagnostic
from specc.tools.lint.rules import RULES
from specc.tools.lint.run import Examiner
from specc.tools.settings import Choice, Settings

FILE = "example.specc"  # the name that an example may use for itself


def findings(text: str, folder: Path, select: tuple[str, ...] = ()) -> list[Diagnostic]:
    """Everything found in a text, in its order, but for lint rules: of those the ones in `select` are run."""
    path = folder / FILE
    path.write_text(text, encoding="utf-8")
    settings = Settings(choice=Choice(ignore=tuple(RULES)), over=Choice(select))
    return Examiner(lambda _: settings).examine([path])[0].found


def codes(text: str, folder: Path, select: tuple[str, ...] = ()) -> list[str]:
    return [found.code for found in findings(text, folder, select)]
