"""Everything that `specc check` finds: errors, checks, lint rules, less what settings and comments ignore."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from specc.diagnostics.finding import MOST, Diagnostic, Report, SpecError
from specc.resolve.model import Resolved
from specc.resolve.program import Reader, read
from specc.source import Source
from specc.tools import check
from specc.tools.lint.directives import Directives, directives
from specc.tools.lint.rules import RULES, lint
from specc.tools.settings import Settings, can_be_ignored


@dataclass(slots=True)
class Examined:
    """One file: how many models and adapters it holds, and its findings."""

    path: Path
    source: Source | None = None
    models: int = 0
    adapters: int = 0
    found: list[Diagnostic] = field(default_factory=list)


class Examiner:
    """Looks at files one by one; what two of them share is reported once, and a comment that any of them needs is of use.

    reader: gives the texts, those of used files too. seen: is shown every model without errors.
    """

    def __init__(
        self, settings: Callable[[Path], Settings], reader: Reader = read, seen: Callable[[Resolved], None] = lambda resolved: None
    ) -> None:
        self.settings, self.reader, self.seen = settings, reader, seen
        self._known: set[tuple] = set()
        self._comments: dict[str, Directives] = {}

    def examine(self, paths: Iterable[Path]) -> list[Examined]:
        """The findings of every file, those in one text in its order. Raises SpecError where a setting is wrong."""
        examined = [self._one(path) for path in paths]
        for one in examined:
            if one.source is None:
                continue
            comments, settings = self._of(one.source), self.settings(one.path)
            idle = []
            if settings.wants("LNT004", one.path) and not _errors(one):
                idle = comments.unused(lambda code, of=settings, path=one.path: of.wants(code, path))
            one.found += (comments.wrong + idle)[:MOST]
            one.found.sort(key=lambda d: _order(d, one.source))
        return examined

    def _one(self, path: Path) -> Examined:
        one, settings = Examined(path), self.settings(path)
        codes = [code for code in RULES if settings.wants(code, path)]

        def look(resolved: Resolved, report: Report) -> None:
            lint(resolved, codes, report)
            self.seen(resolved)

        try:
            one.source = self.reader(path)
            one.models, one.adapters, report = check.check_file(path, look, one.source, self.reader)
            found = report.found
        except SpecError as error:
            found = list(error.diagnostics)
        one.found = [d for d in found if self._new(d) and self._shown(d, path, settings)]
        return one

    def _shown(self, found: Diagnostic, path: Path, settings: Settings) -> bool:
        if found.span is not None and self._of(found.span.source).ignores(found):
            return False
        free = found.severity == "warning" or can_be_ignored(found.code)
        return not free or settings.wants(found.code, Path(found.span.source.name) if found.span is not None else path)

    def _of(self, source: Source) -> Directives:
        name = _name(source)
        if name not in self._comments:
            self._comments[name] = directives(source)
        return self._comments[name]

    def _new(self, found: Diagnostic) -> bool:
        span = found.span
        key = (found.code, found.message, *((_name(span.source), span.start, span.end) if span is not None else ()))
        if key in self._known:
            return False
        self._known.add(key)
        return True


def _name(source: Source) -> str:
    return os.path.abspath(source.name)


def _errors(one: Examined) -> bool:
    """Whether lint rules were kept from looking, so that a comment may only seem to be idle."""
    return any(d.severity == "error" and not can_be_ignored(d.code) for d in one.found)


def _order(found: Diagnostic, own: Source) -> tuple:
    span = found.span
    return (span is not None, span is not None and span.source is not own, span.source.name if span else "", span.start if span else 0)


def strict(found: Diagnostic, settings: Settings) -> Diagnostic:
    """The finding as these settings weigh it."""
    return replace(found, severity="error") if settings.strict else found
