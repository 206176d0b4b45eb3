"""A diagnostic as data, the collector that gathers several, and the error that carries them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from specc.diagnostics.codes import all_codes
from specc.source import Span

Severity = Literal["error", "warning"]

MOST = 100  # findings of one report; a text with more of them is not the one that was meant
LONG_WORD, LONG_TEXT = re.compile(r"\S{200,}"), 4000


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `span` is None where no text is to blame (a checkpoint, a config file)."""

    code: str
    message: str
    span: Span | None = None
    help: str | None = None
    severity: Severity = "error"
    notes: tuple[tuple[Span, str], ...] = ()

    def __post_init__(self) -> None:
        if self.code not in all_codes():
            raise KeyError(f"diagnostic code {self.code} is not in the table")
        object.__setattr__(self, "message", _readable(self.message))
        object.__setattr__(self, "help", self.help and _readable(self.help))


def _readable(text: str) -> str:
    """A message may quote the input, which may be a megabyte of one word."""
    if len(text) < 200:
        return text
    text = LONG_WORD.sub(lambda word: f"{word[0][:60]}...{word[0][-10:]}", text)
    return text if len(text) <= LONG_TEXT else text[:LONG_TEXT] + "..."


class SpecError(Exception):
    """Compilation cannot go on. Holds every diagnostic found so far."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(f"{d.code}: {d.message}" for d in self.diagnostics))


@dataclass(slots=True)
class Report:
    """Collects diagnostics so that one run reports them all."""

    found: list[Diagnostic] = field(default_factory=list)
    _known: set[Diagnostic] = field(default_factory=set, repr=False)

    def error(self, code: str, message: str, span: Span | None = None, help: str | None = None, notes: tuple = ()) -> None:
        self.add(Diagnostic(code, message, span, help, "error", notes))

    def warn(self, code: str, message: str, span: Span | None = None, help: str | None = None) -> None:
        self.add(Diagnostic(code, message, span, help, "warning"))

    def add(self, *diagnostics: Diagnostic) -> None:
        """Keeps what it does not hold yet: the same field may be looked at once per layer. Raises SpecError at the limit."""
        for found in diagnostics:
            if found in self._known:
                continue
            if len(self.found) >= MOST and found.code != "LIM015":
                self.add(Diagnostic("LIM015", f"there are more than {MOST} findings; nothing further is looked for", found.span))
                raise SpecError(self.found)
            self._known.add(found)
            self.found.append(found)

    @property
    def errors(self) -> list[Diagnostic]:
        return [d for d in self.found if d.severity == "error"]

    def raise_errors(self) -> None:
        """Raises SpecError with everything found if any of it is an error."""
        if self.errors:
            raise SpecError(self.found)


def fail(code: str, message: str, span: Span | None = None, help: str | None = None, notes: tuple = ()) -> SpecError:
    """An error with a single diagnostic, to be raised by the caller."""
    return SpecError([Diagnostic(code, message, span, help, "error", notes)])


def closest(name: str, known: Iterable[str], alike: float = 0.6) -> str | None:
    """The known name that a misspelt one is most like; `alike` is the share of letters that they must have in common."""
    from difflib import get_close_matches  # read only where something is wrong

    known = list(known)
    close = get_close_matches(name, known, n=1, cutoff=alike) if len(name) <= 100 and len(known) <= 2000 else []
    return close[0] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A suggestion for a misspelt name, or the list of what is known where nothing is close."""
    known = sorted(known)
    if (close := closest(name, known)) is not None:
        return f"did you mean `{close}`?"
    return f"known here: {', '.join(known)}" if 0 < len(known) <= 24 else None
