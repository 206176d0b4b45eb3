"""The words of syntax errors: tokens and expectations in plain English, and what is wrong with a bad token."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from specc.diagnostics.finding import Diagnostic
from specc.source import Span

if TYPE_CHECKING:
    from specc.syntax.lexer import Token
    from specc.syntax.tables import Tables

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_OPERATORS = frozenset((*COMPARISONS, "+", "-", "*", "/", "//", "%", "**", "??", "|", "and", "or", ".", "(", "["))
_STRAY_HELP = {
    ";": "statements need no separator: a blank or a line break is enough",
    "'": 'strings stand between double quotes: "text"',
    "&": "write `and`",
    "^": "a power is written `**`",
    "!": "unequal is written `!=`; there is no other negation",
    "?": "a value for what is missing is written `a ?? b`",
    "~": "there is no such operator",
    "\\": "a statement goes on over line breaks by itself, and strings have no escapes",
    "“": 'strings stand between plain double quotes: "text"',
    "”": 'strings stand between plain double quotes: "text"',
    "×": "multiplication is written `*`",
    "−": "minus is written `-`",
}


def clip(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def describe(token: Token) -> str:
    """A token as a sentence names it."""
    if token.type == "$END":
        return "the end of the file"
    text = clip(token.text)
    if token.type == "STRING":
        return f"the string {text}"
    if token.type == "NUMBER":
        return f"the number {text}"
    if token.type == "NAME":
        return f"the name `{text}`"
    return f"the word `{text}`" if text[0].isalpha() else f"`{text}`"


def one_of(choices: Iterable[str]) -> str:
    """`a`, `b` or `c`"""
    *most, last = choices
    return f"{', '.join(most)} or {last}" if most else last


def expectation(expected: frozenset[str], tables: Tables) -> str:
    """What could stand here, as few words as say it."""
    signs = [text for terminal, text in tables.literals.items() if terminal in expected]
    closing = [f"`{text}`" for text in signs if text in (")", "]", "}")]
    if "NAME" in expected and "NUMBER" in expected:
        return one_of(["a value", *closing])
    if "MODEL" in expected and "$END" in expected:
        return one_of(f"`{word}`" for word in ("use", "model", "adapter", "block", "weights"))
    if "==" in signs and "or" not in signs:  # the left side of a check
        return "a comparison such as `==` or `<=`"
    if "*" in signs:  # behind a whole value: operators are always possible and seldom what is missing
        next_statement = ["the next statement"] if "NAME" in expected else []
        passed_over = _OPERATORS | _words(tables) | ({"require"} if next_statement else set())
        rest = next_statement + [f"`{text}`" for text in signs if text not in passed_over]
        return one_of(rest) if rest else "an operator"
    if "}" in signs:
        arms = "STRING" in expected
        return one_of(['an arm such as `"pattern": value`' if arms else "a statement", "`}`"])
    if "STRING" in expected and "NUMBER" in expected:
        return 'an arm such as `"pattern": value`'
    kinds = {"NAME": "a name", "NUMBER": "a number", "STRING": "a string"}
    found = [text for terminal, text in kinds.items() if terminal in expected]
    soft = "NAME" in expected  # where a name may stand, a section word is one more name
    rest = [f"`{text}`" for text in signs if not (soft and text in _words(tables))]
    return one_of(sorted(rest, key=lambda text: text != "`=`") + found or ["nothing more"])


def _words(tables: Tables) -> frozenset[str]:
    return frozenset(tables.literals[terminal] for terminal in tables.soft)


def lexical(kind: str, text: str, span: Span) -> Diagnostic:
    """What is wrong with a piece of text that is no token."""
    if kind == "BAD_STRING":
        return Diagnostic("SYN005", "the string is not closed", span, 'a string ends with `"` on the line where it began')
    if kind == "BAD_NUMBER":
        help = "a name begins with a letter; a number may end in k, M, G (thousands) or KiB, MiB, GiB (1024s)"
        return Diagnostic("SYN007", f"`{clip(text)}` is neither a number nor a name", span, help)
    char = text[0]
    if char.isprintable() and char != " ":
        name = f"`{clip(text)}`"
    else:
        from unicodedata import name as unicode_name

        name = f"U+{ord(char):04X} ({unicode_name(char, 'a control character').lower()})"
    help = _STRAY_HELP.get(char)
    if help is None and char.isalpha():
        help = "names are made of the letters a to z, digits and underscores"
    return Diagnostic("SYN006", f"the character {name} has no meaning here", span, help)
