"""The exact words of syntax errors, their places and their help."""

from __future__ import annotations

import pytest

from specc.diagnostics import Diagnostic, SpecError
from specc.source import Source
from specc.syntax.parser import parse


def found(text: str) -> list[Diagnostic]:
    with pytest.raises(SpecError) as caught:
        parse(Source("test.specc", text))
    return list(caught.value.diagnostics)


def only(text: str) -> Diagnostic:
    (diagnostic,) = found(text)
    return diagnostic


FIELD_HELP = "a field is written `name = value`; `name: value` is an argument of a call"
COMMA_HELP = "the parts of a list or a call are separated by commas"

# text of a file, with the place of the error between « and »; code, message, help
CASES = [
    ("model m { dim «64» }", "SYN001",
     "expected `=` after the field name `dim`, found the number 64", None),
    ("model m { dim«:» 64 }", "SYN008",
     "expected `=` after the field name `dim`, found `:`", FIELD_HELP),
    ("model m { layers[i].norm.x «3» }", "SYN001",
     "expected `=` after the field name `layers[i].norm.x`, found the number 3", None),
    ("model m { x = «}»", "SYN001",
     "expected a value after `=`, found `}`", None),
    ("model m { x = \n  «y» = 3 }", "SYN001",
     "expected a value after `=`, found the field `y`", "the field above it has no value"),
    ("model «{»", "SYN001",
     "expected a name after `model`, found `{`", None),
    ("model m«»", "SYN001",
     "expected `extends`, `(` or `{` after the name `m`, found the end of the file", None),
    ("«mdoel» m { }", "SYN001",
     "expected `use`, `model`, `adapter`, `block` or `weights`, found the name `mdoel`", "did you mean `model`?"),
    ("model m { layr «local» { } }", "SYN001",
     "expected `=` after the field name `layr`, found the name `local`", "did you mean `layer`?"),
    ("model m { x = f(a «b») }", "SYN011",
     "expected `,` after the name `a`, found the name `b`", COMMA_HELP),
    ("model m { x = [a «b»] }", "SYN011",
     "expected `,` after the name `a`, found the name `b`", COMMA_HELP),
    ("block p(x «memory») { }", "SYN011",
     "expected `,` after the name `x`, found the name `memory`", COMMA_HELP),
    ("model m { x = f(a,\n  b «=» 3) }", "SYN009",
     "expected `:` after the argument name `b`, found `=`", "an argument is written `name: value`; if `b` is a field, close the `(` of line 1 before it"),
    ("model m { x = f(a «=» 3) }", "SYN009",
     "expected `:` after the argument name `a`, found `=`", "an argument is written `name: value`"),
    ("model m { x = f(a\n  «b» = 3 }", "SYN003",
     "the `(` of line 1 is not closed", "add `)` before `b`"),
    ("model m { «for» = 3 }", "SYN010",
     "`for` is a reserved word and cannot be a name", "choose another name"),
    ("model «for» { }", "SYN010",
     "`for` is a reserved word and cannot be a name", "choose another name"),
    ("model m { x = f(«for»: 1) }", "SYN010",
     "`for` is a reserved word and cannot be a name", "choose another name"),
    ("model m { x = «for» }", "SYN001",
     "expected a value after `=`, found the word `for`", "a `for` stands first in its list"),
    ("model m { x = 1 + «if» a then b else c }", "SYN001",
     "expected a value after `+`, found the word `if`", "put the whole `if` in parentheses"),
    ("model m { x = a < b «<» c }", "SYN001",
     "expected the next statement or `}` after the name `b`, found `<`", "comparisons do not chain: write `a < b and b < c`"),
    ("model m { a = 1«,» b = 2 }", "SYN001",
     "expected the next statement or `}` after the number 1, found `,`", "statements are separated by blanks or line breaks, without commas"),
    ("model m { a = «.»5 }", "SYN001",
     "expected a value after `=`, found `.`", "a number begins with a digit: `0.5`"),
    ("model m { x = 1 } «}»", "SYN004",
     "`}` closes nothing", "remove it, or find the bracket that it closed too early"),
    ("model m { x = f(a)«)» }", "SYN004",
     "`)` closes nothing", "remove it, or find the bracket that it closed too early"),
    ("model m { x = f(a, b «}»", "SYN003",
     "the `(` of line 1 is not closed", "add `)` before `}`"),
    ("«layer» x { }", "SYN014",
     "`layer` stands outside a model", "it belongs between the braces of `model NAME { }`"),
    ("«encoder» { }", "SYN014",
     "`encoder` stands outside a model", "it belongs between the braces of `model NAME { }`"),
    ("«dim» = 64", "SYN014",
     "the field `dim` stands outside a model", "fields stand between the braces of `model NAME { }`"),
    ("use «base»", "SYN001",
     "expected a string after `use`, found the name `base`", None),
    ("block p(«)» { }", "SYN001",
     "expected a name after `(`, found `)`", None),
    ("adapter a for «{» }", "SYN001",
     "expected a name or a string after `for`, found `{`", None),
    ('adapter a for "x" { lora «}»', "SYN001",
     "expected `=` or `(` after the field name `lora`, found `}`", None),
    ("model m { checks { params «}» }", "SYN001",
     "expected a comparison such as `==` or `<=` after the name `params`, found `}`", None),
    ("model m { checks { params «=» 3 } }", "SYN012",
     "expected a comparison such as `==` or `<=` after the name `params`, found `=`", "`==` compares; `=` sets a field"),
    ("model m { checks { params == «}» }", "SYN001",
     "expected a value after `==`, found `}`", None),
    ("model m { x «==» 3 }", "SYN012",
     "expected `=` after the field name `x`, found `==`", "a field is set with `=`; `==` compares"),
    ('model m { require a «"x"» }', "SYN001",
     'expected `else` after the name `a`, found the string "x"', None),
    ("model m { x = if a «b» else c }", "SYN001",
     "expected `then` after the name `a`, found the name `b`", None),
    ("model m { x = if a then b «}»", "SYN001",
     "expected `else` after the name `b`, found `}`", None),
    ("model m { x = match a { «b»: c } }", "SYN001",
     'expected an arm such as `"pattern": value` after `{`, found the name `b`', None),
    ('model m { x = match a { "b" «c» } }', "SYN001",
     'expected `:` after the string "b", found the name `c`', None),
    ("model m { x = [for t in x «t»] }", "SYN001",
     "expected `:` after the name `x`, found the name `t`", None),
    ("model m { x = [for t «x»: t] }", "SYN001",
     "expected `in` after the name `t`, found the name `x`", None),
    ("model m { x = repeat «a» }", "SYN001",
     "expected `[` after `repeat`, found the name `a`", None),
    ("specc «x»", "SYN001",
     "expected a number after `specc`, found the name `x`", None),
    ("«specc 1.5»", "SYN013",
     "`1.5` is not a version of the language", "write `specc 1`"),
    ("specc 1\n«specc» 1", "SYN013",
     "the version does not stand first", "`specc 1` is the first statement of a file"),
    ("model m { x = 3«(»4) }", "SYN001",
     "expected the next statement or `}` after the number 3, found `(`", None),
    ("model m { x = 5 «6» }", "SYN001",
     "expected the next statement or `}` after the number 5, found the number 6", None),
    ("model m { x = a.«3» }", "SYN001",
     "expected a name after `.`, found the number 3", None),
    ("model m { x = a «then» b }", "SYN001",
     "expected the next statement or `}` after the name `a`, found the word `then`", None),
    ('model m { x = «"abc»\n}', "SYN005",
     "the string is not closed", 'a string ends with `"` on the line where it began'),
    ("model m { x = «64x» }", "SYN007",
     "`64x` is neither a number nor a name", "a name begins with a letter; a number may end in k, M, G (thousands) or KiB, MiB, GiB (1024s)"),
    ("model m { x = «1.0001k» }", "SYN007",
     "`1.0001k` is not a whole number", "a number with a suffix counts things or bytes"),
    ("model m { a = 1«;» }", "SYN006",
     "the character `;` has no meaning here", "statements need no separator: a blank or a line break is enough"),
    ("model m { a = b «&&» c }", "SYN006",
     "the character `&&` has no meaning here", "write `and`"),
    ("model m { a = «\xa0»3 }", "SYN006",
     "the character U+00A0 (no-break space) has no meaning here", None),
    ("model «é» { }", "SYN006",
     "the character `é` has no meaning here", "names are made of the letters a to z, digits and underscores"),
    ("model m { a = «'»b }", "SYN006",
     "the character `'` has no meaning here", 'strings stand between double quotes: "text"'),
]  # fmt: skip


@pytest.mark.parametrize(("marked", "code", "message", "help"), CASES)
def test_wording(marked: str, code: str, message: str, help: str | None) -> None:
    start = marked.index("«")
    end = marked.index("»") - 1
    diagnostic = only(marked.replace("«", "").replace("»", ""))
    assert (diagnostic.code, diagnostic.message, diagnostic.help) == (code, message, help)
    assert diagnostic.span is not None
    assert (diagnostic.span.start, diagnostic.span.end) == (start, end)


def test_no_message_names_a_terminal() -> None:
    for marked, *_ in CASES:
        for diagnostic in found(marked.replace("«", "").replace("»", "")):
            for word in ("RPAR", "LBRACE", "$END", "EQUAL", "NAME", "ANON"):
                assert word not in diagnostic.message.replace("`model NAME", "")


def test_an_unclosed_bracket_shows_where_it_was_opened() -> None:
    diagnostic = only("model a {\n  x = [1, 2\n}\n")
    assert (diagnostic.code, diagnostic.message) == ("SYN003", "the `[` of line 2 is not closed")
    assert diagnostic.help == "add `]` before `}`"
    ((span, note),) = diagnostic.notes
    assert (str(span), note) == ("test.specc:2:7", "opened here")


def test_an_unclosed_section_is_found_at_the_next_one() -> None:
    diagnostic = only("model a {\n  x = 1\nmodel b { }\n")
    assert (diagnostic.message, str(diagnostic.span)) == ("the `{` of line 1 is not closed", "test.specc:3:1")


def test_indentation_tells_which_brace_is_not_closed() -> None:
    diagnostic = only("model a {\n  layer q {\n    x = 1\n}\n")
    assert (diagnostic.message, str(diagnostic.span)) == ("the `{` of line 2 is not closed", "test.specc:4:2")


def test_several_mistakes_are_reported_in_order() -> None:
    text = 'model a {\n  x = "open\n}\nmodel b { y 2 }\nmodel c { z: 3 }\nblock p { }\nadapter q for "r" { s }\nmodel good { }\n'
    assert [(d.code, d.span and d.span.line) for d in found(text)] == [
        ("SYN005", 2), ("SYN001", 4), ("SYN008", 5), ("SYN001", 6), ("SYN001", 7),
    ]  # fmt: skip


def test_numbers_out_of_range_are_all_reported() -> None:
    assert [d.code for d in found("model a { x = 1e999  y = 99999999999999999999 }")] == ["LIM006", "LIM005"]


def test_a_newer_version_is_refused_before_its_syntax_is_read() -> None:
    diagnostic = only("specc 2\nmodel <- new syntax ;")
    assert diagnostic.code == "SYN002"
    assert diagnostic.message == "the file is written in version 2 of the language; this specc knows versions up to 1"
    assert diagnostic.span is not None and diagnostic.span.text == "specc 2"
