"""A text checked as `specc check` does it."""

from __future__ import annotations

from pathlib import Path

from specc.diagnostics import Diagnostic, SpecError
from specc.tools.check import check_file

FILE = "example.specc"  # the name that an example may use for itself


def findings(text: str, folder: Path) -> list[Diagnostic]:
    """Everything found in a text, in the order of the report."""
    path = folder / FILE
    path.write_text(text, encoding="utf-8")
    try:
        return check_file(path)[1].found
    except SpecError as error:
        return list(error.diagnostics)


def codes(text: str, folder: Path) -> list[str]:
    return [found.code for found in findings(text, folder)]
