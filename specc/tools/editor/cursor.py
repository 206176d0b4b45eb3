"""Where something is about to be typed, told from the text before it alone."""

from __future__ import annotations

from dataclasses import dataclass

from specc.diagnostics.finding import SpecError
from specc.source import Source
from specc.syntax import lexer, tables
from specc.syntax.lexer import Token
from specc.tools.editor.outline import Frame, Outline
from specc.tools.editor.scan import ENDS, Scanner


@dataclass(slots=True)
class Cursor:
    """Where something is about to be typed: the frames around it, and the tokens before it, the last one last."""

    frame: Frame
    before: list[Token]
    tables: tables.Tables

    def last(self, back: int = 1) -> Token:
        return self.before[-back] if len(self.before) >= back else Token(lexer.END, "", 0, 0)

    @property
    def begins(self) -> bool:
        """Whether a name here would begin a statement: what stands before it is complete."""
        return not self.before or self.last().type in ENDS or self.last().type in self.tables.soft


def cursor(text: str) -> Cursor | None:
    """The place behind a text; None where the text holds more than specc reads."""
    automaton = tables.load()
    try:
        tokens = lexer.tokenise(Source("", text), automaton).tokens
    except SpecError:
        return None
    scanner = Scanner(text, tokens, Outline(text, Frame("file", end=len(text))), [])
    scanner.stack.append(scanner.found.file)
    scanner.run()
    return Cursor(scanner.stack[-1], tokens[:-1], automaton)
