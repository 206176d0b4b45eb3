"""Text to tokens: one pass, which also collects doc comments and bounds the nesting before anything is parsed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from specc.diagnostics.finding import Diagnostic, SpecError, fail
from specc.source import Source, Span
from specc.syntax import limits, wording
from specc.syntax.tables import Tables

END = "$END"
OPENING = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
CLOSING = frozenset(OPENING.values())


class Token(NamedTuple):
    type: str
    text: str
    start: int
    end: int


@dataclass(slots=True)
class Lexed:
    """`docs` maps the offset of a token to the `##` lines immediately above it."""

    tokens: list[Token] = field(default_factory=list)
    docs: dict[int, str] = field(default_factory=dict)
    errors: list[Diagnostic] = field(default_factory=list)


@lru_cache(maxsize=1)
def _vocabulary(tables: Tables) -> tuple[re.Pattern[str], dict[str, str]]:
    """One regular expression for every token, and the type of each fixed spelling."""
    types = {text: name for name, text in tables.literals.items()}
    signs = sorted((text for text in types if not text[0].isalpha()), key=len, reverse=True)
    patterns = tables.patterns
    alternatives = (
        f"(?P<BLANK>{patterns['BLANK']})",
        r"(?P<WORD>[A-Za-z_][A-Za-z0-9_]*)",
        f"(?P<SIGN>{'|'.join(map(re.escape, signs))})",
        f"(?P<NUMBER>{patterns['NUMBER']})",
        f"(?P<STRING>{patterns['STRING']})",
        f"(?P<COMMENT>{patterns['COMMENT']})",
        r"(?P<BAD_NUMBER>[0-9][A-Za-z0-9_]*)",
        r'(?P<BAD_STRING>"[^"\n]*)',
        r"(?P<STRAY>(?P<_same>.)(?P=_same)*)",
    )
    return re.compile("|".join(alternatives), re.DOTALL), types


def tokenise(source: Source, tables: Tables) -> Lexed:
    """The tokens of a text, an end token last. Raises at once where brackets nest too deep."""
    pattern, types = _vocabulary(tables)
    lexed = Lexed()
    tokens, docs = lexed.tokens, _Docs(source.text, lexed.docs)
    begin = 1 if source.text.startswith("\ufeff") else 0
    depth = 0
    for match in pattern.finditer(source.text, begin):
        kind = match.lastgroup
        if kind == "BLANK":
            continue
        text, start, end = match[0], match.start(), match.end()
        if kind == "COMMENT":
            docs.comment(text, start, end)
            continue
        if docs.lines:
            docs.token(start)
        if kind == "WORD":
            kind = types.get(text, "NAME")
        elif kind == "SIGN":
            kind = types[text]
            if kind in OPENING:
                depth += 1
                if depth > limits.BRACKETS:
                    raise _too_deep(Span(source, start, end))
            elif kind in CLOSING and depth:
                depth -= 1
        elif kind not in ("NUMBER", "STRING"):
            lexed.errors.append(wording.lexical(kind or "STRAY", text, Span(source, start, end)))
            if len(lexed.errors) >= limits.ERRORS:
                raise SpecError(lexed.errors)
            if kind == "STRAY":
                continue
            kind, text = ("NUMBER", "0") if kind == "BAD_NUMBER" else ("STRING", '""')  # stands in for the bad one
        tokens.append(Token(kind, text, start, end))
        if len(tokens) > limits.TOKENS:
            message = f"the file holds more than {limits.TOKENS:,} words and signs"
            raise fail("LIM009", message, Span(source, start, end), "split it and join the parts with `use`")
    size = len(source.text)
    tokens.append(Token(END, "", size, size))
    return lexed


def _too_deep(span: Span) -> Exception:
    message = f"brackets nest more than {limits.BRACKETS} deep"
    return fail("LIM002", message, span, "give inner parts a name of their own")


class _Docs:
    """Gathers `##` lines and hands them to the token on the line below the last of them."""

    def __init__(self, text: str, found: dict[int, str]) -> None:
        self.text = text
        self.found = found
        self.lines: list[str] = []
        self.end = 0

    def comment(self, text: str, start: int, end: int) -> None:
        line_start = self.text.rfind("\n", 0, start) + 1
        own_line = not self.text[line_start:start].strip("\ufeff \t\r")
        if not own_line or not text.startswith("##") or text.startswith("###"):
            self.lines = []
            return
        if self.lines and not self._follows(start):
            self.lines = []
        self.lines.append(text[2:].removeprefix(" ").rstrip())
        self.end = end

    def token(self, start: int) -> None:
        if self._follows(start) and (doc := "\n".join(self.lines).strip()):
            self.found[start] = doc
        self.lines = []

    def _follows(self, start: int) -> bool:
        return self.text.count("\n", self.end, start) == 1
