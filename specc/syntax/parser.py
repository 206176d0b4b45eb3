"""Text to tree: lexes, runs the automaton, words what is wrong, and goes on behind a mistake to find the next."""

from __future__ import annotations

from collections.abc import Sequence

from specc.diagnostics.finding import Report, SpecError, fail
from specc.source import Source, Span
from specc.syntax import driver, lexer, limits, numbers, place, tables
from specc.syntax.builder import Builder
from specc.syntax.lexer import Token
from specc.syntax.tree import File

VERSION = 1  # of the language: what `specc 1` at the top of a file names


def parse(source: Source) -> File:
    """The tree of a file. Raises SpecError with every syntax error found, in the order of the text."""
    limits.check_text(source)
    automaton = tables.load()
    lexed = lexer.tokenise(source, automaton)
    tokens = lexed.tokens
    _check_version(source, tokens)
    report = Report()
    report.add(*lexed.errors)
    builder = Builder(source, lexed.docs, report)
    file = None
    first: int | None = 0
    while first is not None and len(report.found) < limits.ERRORS:
        builder.forget_depths()
        stopped: int | None = None
        try:
            file = driver.run(automaton, builder.handlers(automaton), tokens, first)
        except driver.Unexpected as unexpected:
            stopped = unexpected.index
        except SpecError as error:  # too deep: what follows is not worth reading
            report.add(*error.diagnostics)
        if stopped is None:
            break
        restart = _restart(source, tokens, first, stopped)
        if not _spoilt(source, lexed, first, stopped, restart):
            from specc.syntax import mistakes  # read only where there is one

            words = driver.expected(automaton, tokens, first, stopped)
            report.add(mistakes.explain(place.Place(source, automaton, tokens, first, stopped, words)))
        first = restart
    report.found.sort(key=lambda found: found.span.start if found.span else 0)
    report.raise_errors()
    assert file is not None  # the automaton accepts or reports
    return file


def _restart(source: Source, tokens: Sequence[Token], first: int, stopped: int) -> int | None:
    """The next top-level section at or behind a mistake; the mistake may be that this section was not awaited."""
    candidates = range(max(first + 1, stopped - 1), len(tokens) - 1)
    return next((index for index in candidates if place.is_starter(source, tokens, index)), None)


def _spoilt(source: Source, lexed: lexer.Lexed, first: int, stopped: int, restart: int | None) -> bool:
    """Whether a bad token was already reported in this section, so that what the parser says is likely its echo."""
    sections = (n for n in range(stopped - 2, first, -1) if place.is_starter(source, lexed.tokens, n))
    begin = next(sections, first)
    start = lexed.tokens[begin].start if begin else 0
    end = len(source.text) if restart is None else lexed.tokens[restart].start
    return any(error.span is not None and start <= error.span.start < end for error in lexed.errors)


def _check_version(source: Source, tokens: Sequence[Token]) -> None:
    """Refuses a version that this parser does not know before it stumbles over that version's syntax."""
    if tokens[0].type != "SPECC" or tokens[1].type != "NUMBER":
        return
    span = Span(source, tokens[0].start, tokens[1].end)
    try:
        version = numbers.value_of(tokens[1].text)
    except numbers.BadNumber:
        version = 0
    if not isinstance(version, int) or version < 1:
        raise fail("SYN013", f"`{tokens[1].text}` is not a version of the language", span, f"write `specc {VERSION}`")
    if version > VERSION:
        message = f"the file is written in version {version} of the language; this specc knows versions up to {VERSION}"
        raise fail("SYN002", message, span, "a newer specc can read it")
