"""The words and signs of a text with the comments, line breaks and blank lines between them, and how they are spaced."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from specc.source import Source
from specc.syntax import lexer, tables

RESERVED = frozenset({"repeat", "for", "in", "match", "if", "then", "else", "require", "and", "or"})
# Operators by how loosely they bind: a line is broken at the loosest first.
BINARY = {"|": 1, "or": 2, "and": 3, "??": 5, "+": 6, "-": 6, "*": 7, "/": 7, "//": 7, "%": 7, "**": 8} | dict.fromkeys(
    ("==", "!=", "<", "<=", ">", ">="), 4
)
BRANCH = 0  # the level of `then` and `else`
OPENING, CLOSING = {"(": ")", "[": "]", "{": "}"}, frozenset(")]}")
BETWEEN = re.compile(r"#[^\n]*|\n")


@dataclass(frozen=True, slots=True)
class Comment:
    """own: whether it has a line of its own. blank: whether a blank line stands above it."""

    text: str
    own: bool
    blank: bool


@dataclass(slots=True)
class Piece:
    """A word or sign. comments: between the one before and this one; newline: whether a line ends there.

    blank: whether a blank line stands right above it.
    """

    text: str
    start: int
    end: int
    newline: bool = False
    blank: bool = False
    comments: list[Comment] = field(default_factory=list)

    @property
    def is_operand_end(self) -> bool:
        """Whether an operand may end here, so that a sign behind it has two sides and a bracket is a call or an index."""
        return self.text in (")", "]", "}") or (self.text[:1].isalnum() or self.text[:1] in '_"') and self.text not in RESERVED

    @property
    def trailing(self) -> Comment | None:
        """The comment that ends the line of the piece before."""
        return self.comments[0] if self.comments and not self.comments[0].own else None

    @property
    def leading(self) -> list[Comment]:
        return [c for c in self.comments if c.own]


def pieces(source: Source) -> list[Piece]:
    """Every token in order; the last one is empty and holds what stands behind them all."""
    found: list[Piece] = []
    end = 1 if source.text.startswith("\ufeff") else 0
    for token in lexer.tokenise(source, tables.load()).tokens:
        text = source.text[token.start : token.end] if token.type != lexer.END else ""
        piece = Piece(text, token.start, token.end)
        _between(piece, source.text[end : token.start], first=not found)
        found.append(piece)
        end = token.end
    return found


def _between(piece: Piece, gap: str, first: bool) -> None:
    breaks = 1 if first else 0  # since the last word or comment
    for match in BETWEEN.finditer(gap):
        if match[0] == "\n":
            breaks += 1
            piece.newline = True
            continue
        piece.comments.append(Comment(match[0].rstrip(), breaks > 0, breaks > 1))
        breaks = 0
    piece.blank = breaks > 1


def space(before: Piece, piece: Piece, unary: bool) -> str:
    """What stands between two pieces on one line. `unary`: whether the first is a sign with one side."""
    if piece.text in (",", ")", "]", ":", ".") or before.text in ("(", "[", ".") or unary:
        return ""
    return "" if piece.text in ("(", "[") and before.is_operand_end else " "
