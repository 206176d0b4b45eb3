"""From a token that cannot stand where it stands to the likely mistake, its code and its remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches

from specc.diagnostics.finding import Diagnostic
from specc.syntax.lexer import CLOSING, END, OPENING, Token
from specc.syntax.place import Place, is_starter
from specc.syntax.wording import COMPARISONS, describe

_VALUES = frozenset({"NAME", "NUMBER", "STRING", "TRUE", "FALSE", "NONE", "IF", "MATCH", "REPEAT"})
_CLOSERS = {"RPAR": ")", "RSQB": "]", "RBRACE": "}"}


def explain(place: Place) -> Diagnostic:
    """The diagnostic for a place: the first of the known mistakes that fits, or what was expected."""
    opened, suspect = _open_brackets(place)
    for mistake in _MISTAKES:
        if found := mistake(place, opened, suspect):
            return found
    return Diagnostic("SYN001", place.message(), place.span(place.at(0)), _help(place))


def _open_brackets(place: Place) -> tuple[list[Token], Token | None]:
    """The brackets open at the token, and one that indentation says was closed in another's stead."""
    opened: list[Token] = []
    suspect = None
    for token in place.tokens[place.first : place.index]:
        if token.type in OPENING:
            opened.append(token)
        elif token.type in CLOSING and opened:
            opener = opened.pop()
            if suspect is None and place.starts_line(token) and _indent(place, token) < _indent(place, opener):
                suspect = opener
    return opened, suspect


def _indent(place: Place, token: Token) -> int:
    text = place.source.text
    line = text[text.rfind("\n", 0, token.start) + 1 : token.end]
    return len(line) - len(line.lstrip())


def _not_closed(place: Place, opener: Token, before: Token) -> Diagnostic:
    closer = _CLOSERS[OPENING[opener.type]]
    where = "the end of the file" if before.type == END else f"`{before.text}`"
    message = f"the `{opener.text}` of line {place.line(opener)} is not closed"
    return Diagnostic(
        "SYN003", message, place.span(before), f"add `{closer}` before {where}",
        notes=((place.span(opener), "opened here"),),
    )  # fmt: skip


def _unclosed(place: Place, opened: list[Token], suspect: Token | None) -> Diagnostic | None:
    token = place.at(0)
    if not opened:
        return None
    if token.type == END:
        return _not_closed(place, suspect or opened[-1], token)
    for offset in (0, -1):
        index = place.index + offset
        if index > place.first and is_starter(place.source, place.tokens, index):
            return _not_closed(place, suspect or opened[-1], place.at(offset))
    partners = [OPENING[opener.type] for opener in opened]
    if token.type in partners and partners[-1] != token.type:
        return _not_closed(place, opened[-1], token)
    if place.at(1).type == "EQUAL" and opened[-1].type != "LBRACE" and place.is_name(token) and place.starts_line(token):
        return _not_closed(place, opened[-1], token)  # a field on a new line, inside brackets
    return None


def _closes_nothing(place: Place, opened: list[Token], suspect: Token | None) -> Diagnostic | None:
    token = place.at(0)
    if token.type not in CLOSING or any(OPENING[opener.type] == token.type for opener in opened):
        return None
    return Diagnostic(
        "SYN004", f"`{token.text}` closes nothing", place.span(token), "remove it, or find the bracket that it closed too early"
    )


def _reserved(place: Place, opened: list[Token], suspect: Token | None) -> Diagnostic | None:
    token = place.at(0)
    text = place.tables.literals.get(token.type, "")
    if not text.isalpha() or token.type in place.tables.soft or "NAME" not in place.expected:
        return None
    is_argument = place.at(1).type == "COLON" and opened and opened[-1].type == "LPAR"
    if "NUMBER" in place.expected and not is_argument:  # a value could stand here, not only a name
        return None
    if place.takes("*") and place.at(1).type != "EQUAL":
        return None
    return Diagnostic("SYN010", f"`{text}` is a reserved word and cannot be a name", place.span(token), "choose another name")


def _colon_for_equals(place: Place, opened: list[Token], suspect: Token | None) -> Diagnostic | None:
    if place.at(0).type != "COLON" or not place.takes("="):
        return None
    help = "a field is written `name = value`; `name: value` is an argument of a call"
    return Diagnostic("SYN008", place.message(), place.span(place.at(0)), help)


def _equals_for_colon(place: Place, opened: list[Token], suspect: Token | None) -> Diagnostic | None:
    name = place.at(-1)
    if place.at(0).type != "EQUAL" or not opened or opened[-1].type != "LPAR" or not place.is_name(name):
        return None
    help = "an argument is written `name: value`"
    if place.line(name) > place.line(opened[-1]) and place.starts_line(name):
        help += f"; if `{name.text}` is a field, close the `(` of line {place.line(opened[-1])} before it"
    message = f"expected `:` after the argument name `{name.text}`, found `=`"
    return Diagnostic("SYN009", message, place.span(place.at(0)), help)


def _comparison(place: Place, opened: list[Token], suspect: Token | None) -> Diagnostic | None:
    token = place.at(0)
    if token.text == "==" and place.takes("=") and not place.takes("=="):
        return Diagnostic("SYN012", place.message(), place.span(token), "a field is set with `=`; `==` compares")
    if token.type != "EQUAL":
        return None
    name = place.at(-1)
    if place.at(-2).type == "EQUAL" and place.is_name(name) and place.starts_line(name):
        message = f"expected a value after `=`, found the field `{name.text}`"
        return Diagnostic("SYN001", message, place.span(name), "the field above it has no value")
    if place.takes("==") or place.takes("*"):
        return Diagnostic("SYN012", place.message(), place.span(token), "`==` compares; `=` sets a field")
    return None


def _comma(place: Place, opened: list[Token], suspect: Token | None) -> Diagnostic | None:
    token = place.at(0)
    if place.takes(",") and (token.type in _VALUES or place.is_name(token)):
        after = describe(place.at(-1)).replace("the word ", "")
        message = f"expected `,` after {after}, found {describe(token)}"
        return Diagnostic("SYN011", message, place.span(token), "the parts of a list or a call are separated by commas")
    return None


def _outside(place: Place, opened: list[Token], suspect: Token | None) -> Diagnostic | None:
    token = place.at(0)
    if opened or not (place.takes("model") and END in place.expected):
        return None
    if token.type == "SPECC":
        return Diagnostic("SYN013", "the version does not stand first", place.span(token), "`specc 1` is the first statement of a file")
    following = place.at(1)
    if place.is_name(token) and following.type in ("EQUAL", "DOT", "LSQB"):
        message = f"the field `{token.text}` stands outside a model"
        return Diagnostic("SYN014", message, place.span(token), "fields stand between the braces of `model NAME { }`")
    if token.type in ("LAYER", "ENCODER", "DECODER", "CHECKS", "REQUIRE"):
        message = f"`{token.text}` stands outside a model"
        return Diagnostic("SYN014", message, place.span(token), "it belongs between the braces of `model NAME { }`")
    return None


_Mistake = Callable[[Place, "list[Token]", "Token | None"], "Diagnostic | None"]
_MISTAKES: tuple[_Mistake, ...] = (
    _unclosed, _closes_nothing, _reserved, _colon_for_equals, _equals_for_colon, _comparison, _comma, _outside,
)  # fmt: skip


def _help(place: Place) -> str | None:
    return next(_hints(place), None)


def _hints(place: Place) -> Iterator[str]:
    """Help for what has no code of its own."""
    token, before = place.at(0), place.at(-1)
    if token.type == "COMMA" and place.takes("}"):
        yield "statements are separated by blanks or line breaks, without commas"
    if token.text in COMPARISONS and place.takes("*"):
        yield "comparisons do not chain: write `a < b and b < c`"
    if token.type in ("IF", "MATCH", "FOR") and "NUMBER" in place.expected:
        yield "a `for` stands first in its list" if token.type == "FOR" else f"put the whole `{token.text}` in parentheses"
    if token.type == "DOT" and "NUMBER" in place.expected:
        yield "a number begins with a digit: `0.5`"
    word = before if place.takes("=") and token.type in ("NAME", "LBRACE") else token
    if place.is_name(word) and (place.takes("=") or place.takes("model")):
        sections = [place.tables.literals[terminal] for terminal in place.tables.soft]
        if close := get_close_matches(word.text, sections, n=1, cutoff=0.7):
            if close[0] != word.text:
                yield f"did you mean `{close[0]}`?"
