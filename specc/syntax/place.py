"""Where the parser stopped, with the questions that the wording of a mistake asks about the place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specc.source import Source, Span
from specc.syntax.lexer import END, Token
from specc.syntax.tables import Tables
from specc.syntax.wording import clip, describe, expectation

TOP_LEVEL = frozenset({"USE", "MODEL", "ADAPTER", "BLOCK", "WEIGHTS"})


@dataclass(slots=True)
class Place:
    """Where the parser stopped: tokens[index], in the part of the file that begins at tokens[first]."""

    source: Source
    tables: Tables
    tokens: Sequence[Token]
    first: int
    index: int
    expected: frozenset[str]

    def at(self, offset: int) -> Token:
        """The token `offset` places from the one that stopped the parser."""
        place = self.index + offset
        return self.tokens[place] if self.first <= place < len(self.tokens) else Token(END, "", 0, 0)

    def span(self, token: Token) -> Span:
        if token.type == END:
            end = self.tokens[-2].end if len(self.tokens) > 1 else 0
            return Span(self.source, end, end)
        return Span(self.source, token.start, token.end)

    def line(self, token: Token) -> int:
        return self.source.position(token.start)[0]

    def starts_line(self, token: Token) -> bool:
        text = self.source.text
        return not text[text.rfind("\n", 0, token.start) + 1 : token.start].strip()

    def takes(self, sign: str) -> bool:
        """Whether a word or sign could stand here."""
        return any(self.tables.literals.get(terminal) == sign for terminal in self.expected)

    def is_name(self, token: Token) -> bool:
        return token.type == "NAME" or token.type in self.tables.soft

    def message(self) -> str:
        if self.takes("=") and not self.takes("*"):
            expected = "`=` or `(`" if self.takes("(") else "`=`"
            return f"expected {expected} after the field name `{self.path()}`, found {describe(self.at(0))}"
        return f"expected {expectation(self.expected, self.tables)}{self._behind()}, found {describe(self.at(0))}"

    def _behind(self) -> str:
        if self.index == self.first:
            return ""
        return f" after {describe(self.at(-1))}".replace("the word ", "")

    def path(self) -> str:
        """The text of the path that ends before the token."""
        start = self.index - 1
        while start > self.first and self.tokens[start - 1].type in ("DOT", "LSQB"):
            start -= 2
        while start > self.first and self.tokens[start].type == "RSQB":  # `layers[i]`: back over `[i]` to its name
            start -= 3
            while start > self.first and self.tokens[start - 1].type == "DOT":
                start -= 2
        return clip(self.source.text[self.tokens[start].start : self.at(-1).end], 60)


def is_starter(source: Source, tokens: Sequence[Token], index: int) -> bool:
    """Whether a top-level section begins here: its word is the first of an unindented line, a name or path follows."""
    token = tokens[index]
    if token.type not in TOP_LEVEL or (token.start and source.text[token.start - 1] not in "\n\ufeff"):
        return False
    return tokens[index + 1].type == "STRING" if token.type == "USE" else tokens[index + 1].text[:1].isalpha()
