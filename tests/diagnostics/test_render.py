"""The exact text that people read, and the JSON that programs read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specc.diagnostics import Diagnostic, Report, SpecError, render
from specc.diagnostics.finding import MOST, did_you_mean
from specc.source import Source, Span
from tests.diagnostics.checked import FILE, findings

BASE = """\
model m {
  vocab = 64
  dim = 16
  depth = 2
  context = 32
  position = rope(theta: 10_000)
  mask = causal
  norm = rms(eps: 1e-5)
  attention = attention(heads: 2)
  ffn = mlp(hidden: 64, activation: gelu)
  block = pre_norm
  head = lm(tied: true)
}
"""


def shown(text: str, folder: Path) -> str:
    return render.text(findings(text, folder)).replace(f"{folder}/", "") + "\n"


# old line, new line, what is printed
CASES = [
    ("  mask = causal", "  mask = casual", """\
example.specc:7:10: error NAM001: no mask variant is called `casual`
  7 |   mask = casual
    |          ^^^^^^
  = help: did you mean `causal`?
"""),
    ("  norm = rms(eps: 1e-5)", "  norm = rms(epsilon: 1e-5)", """\
example.specc:8:14: error NAM002: `rms` has no field `epsilon`
  8 |   norm = rms(epsilon: 1e-5)
    |              ^^^^^^^^^^^^^
  = help: did you mean `eps`?
"""),
    ("  attention = attention(heads: 2)", "  attention = attention(heads: 3)", """\
example.specc:9:25: error SHP001: width 16 is not a multiple of 3 heads
  9 |   attention = attention(heads: 3)
    |                         ^^^^^^^^
  = help: state `head_dim:` to choose a head width of its own
"""),
    ("  ffn = mlp(hidden: 64, activation: gelu)", "  ffn = mlp(activation: gelu)", """\
example.specc:10:9: error VAL002: `mlp` needs `hidden:`
  10 |   ffn = mlp(activation: gelu)
     |         ^^^^^^^^^^^^^^^^^^^^^
  = help: its fields: hidden, activation, bias, dropout
"""),
    ("  depth = 2", "  depth = 2\n  depth = 3", """\
example.specc:5:3: error NAM005: `depth` is given twice
  5 |   depth = 3
    |   ^^^^^
  example.specc:4:3: first here
  4 |   depth = 2
    |   ^^^^^^^^^
"""),
    ("  head = lm(tied: true)", "  head = lm(tied: true)\n  checks { params == 1k }", """\
example.specc:13:12: error CHK001: this check does not hold: `params` is 7_248
  13 |   checks { params == 1k }
     |            ^^^^^^^^^^^^
  = help: the text says == 1_000
"""),
    ("  head = lm(tied: true)", "  head = lm(tied: true)\n  inner = 64", """\
example.specc:13:3: warning LNT001: `inner` is bound and never used
  13 |   inner = 64
     |   ^^^^^
"""),
    ("  norm = rms(eps: 1e-5)", "  norm = rms(eps: 1e-5", """\
example.specc:9:3: error SYN003: the `(` of line 8 is not closed
  9 |   attention = attention(heads: 2)
    |   ^^^^^^^^^
  example.specc:8:13: opened here
  8 |   norm = rms(eps: 1e-5
    |             ^
  = help: add `)` before `attention`
"""),
    ("  mask = causal", "\tmask\t= \t\"\N{CJK UNIFIED IDEOGRAPH-65E5}\" + 1", """\
example.specc:7:10: error TYP004: this needs a number, and it is the string "\N{CJK UNIFIED IDEOGRAPH-65E5}"
  7 | \tmask\t= \t"\N{CJK UNIFIED IDEOGRAPH-65E5}" + 1
    | \t    \t  \t^^^^
"""),
    ("  mask = causal", '  mask = "\x1b[2J\u202e"', """\
example.specc:7:10: error TYP001: this needs one of the mask variants, and it is the string "\\x1b[2J\\u202e"
  7 |   mask = "\N{REPLACEMENT CHARACTER}[2J\N{REPLACEMENT CHARACTER}"
    |          ^^^^^^^
"""),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), CASES, ids=[str(n) for n in range(len(CASES))])
def test_exact_text(old: str, new: str, expected: str, tmp_path: Path) -> None:
    assert old in BASE
    assert shown(BASE.replace(old, new), tmp_path) == expected


SIX = """\
model m {
  vocab = 64
  dim = 16
  depth = 2
  position = rope(theta: ten)
  mask = casual
  norm = rms(eps: 0)
  attention = attention(heads: 2, kv_head: 1)
  ffn = mlp(hidden: 2 * width, activation: gelu)
  block = parallel
  head = lm(tied: yes)
}
"""
SIX_AT_ONCE = """\
example.specc:5:19: error TYP001: `theta` must be a number, and it is the word `ten`, which nothing here binds
  5 |   position = rope(theta: ten)
    |                   ^^^^^^^^^^
example.specc:6:10: error NAM001: no mask variant is called `casual`
  6 |   mask = casual
    |          ^^^^^^
  = help: did you mean `causal`?
example.specc:7:14: error VAL001: `eps` must be greater than 0, and it is the number 0
  7 |   norm = rms(eps: 0)
    |              ^^^^^^
example.specc:8:35: error NAM002: `attention` has no field `kv_head`
  8 |   attention = attention(heads: 2, kv_head: 1)
    |                                   ^^^^^^^^^^
  = help: did you mean `kv_heads`?
example.specc:9:25: error TYP004: this needs a number, and it is `width`
  9 |   ffn = mlp(hidden: 2 * width, activation: gelu)
    |                         ^^^^^
example.specc:11:13: error TYP001: `tied` must be true or false, and it is the word `yes`, which nothing here binds
  11 |   head = lm(tied: yes)
     |             ^^^^^^^^^
"""


def test_mistakes_in_different_fields_are_all_named(tmp_path: Path) -> None:
    assert shown(SIX, tmp_path) == SIX_AT_ONCE


def test_mistakes_in_sizes_and_names_are_named_together(tmp_path: Path) -> None:
    text = (
        BASE.replace("dim = 16", "dim = -16")
        .replace("depth = 2", "depth = 2.5")
        .replace("context", "contxt")
        .replace("vocab = 64", "vocab = none")
    )
    assert [(d.code, d.span.text) for d in findings(text, tmp_path)] == [("VAL001", "-16"), ("TYP001", "2.5"), ("NAM013", "contxt")]


def test_mistakes_in_several_layers_and_models_are_named_together(tmp_path: Path) -> None:
    kinds = "\n  layer a { mask = casual }\n  layer b { mask = slidin(4) }\n  layers = [a, b]\n}\n"
    text = BASE.replace("\n}\n", kinds) + BASE.replace("model m", "model n").replace("gelu", "gellu")
    assert [d.span.text for d in findings(text, tmp_path)] == ["casual", "slidin(4)", "gellu"]


def test_several_syntax_errors_come_in_the_order_of_the_text(tmp_path: Path) -> None:
    text = "model a { dim 64 }\nmodel b { dim: 64 }\nmodel c { dim = 64x }\n"
    assert [(d.code, d.span.line) for d in findings(text, tmp_path)] == [("SYN001", 1), ("SYN008", 2), ("SYN007", 3)]


def test_json(tmp_path: Path) -> None:
    text = BASE.replace("depth = 2", "depth = 2\n  depth = 3")
    place = {"file": str(tmp_path / FILE)}
    assert json.loads(render.as_json(findings(text, tmp_path))) == [
        {
            "code": "NAM005",
            "severity": "error",
            "message": "`depth` is given twice",
            "help": None,
            "notes": [place | {"line": 4, "column": 3, "end_line": 4, "end_column": 12, "message": "first here"}],
            **place,
            "line": 5,
            "column": 3,
            "end_line": 5,
            "end_column": 8,
        }
    ]


def test_a_finding_without_a_place() -> None:
    found = [Diagnostic("SYS001", "cannot read x", None, "look elsewhere")]
    assert render.text(found) == "error SYS001: cannot read x\n  = help: look elsewhere"
    assert json.loads(render.as_json(found)) == [
        {"code": "SYS001", "severity": "error", "message": "cannot read x", "help": "look elsewhere", "notes": []}
    ]


def test_a_very_long_line_is_not_shown() -> None:
    source = Source("a.specc", "x" * 1000)
    assert render.text([Diagnostic("SYN001", "what", Span(source, 3, 4))]) == "a.specc:1:4: error SYN001: what"


def test_a_span_over_several_lines_is_marked_on_its_first() -> None:
    source = Source("a.specc", "one two\nthree")
    assert render.text([Diagnostic("SYN001", "what", Span(source, 4, 13))]).splitlines()[2] == "    |     ^^^"


def test_long_words_of_the_input_are_shortened() -> None:
    found = Diagnostic("NAM001", f"no mask variant is called `{'a' * 10_000}`", None, "b" * 1000)
    assert len(found.message) < 120
    assert len(found.help or "") < 80
    assert len(Diagnostic("NAM001", "a b " * 10_000).message) < 5000


def test_a_report_holds_each_finding_once_and_not_too_many() -> None:
    report = Report()
    for _ in range(3):
        report.error("NAM001", "the same")
    assert len(report.found) == 1
    with pytest.raises(SpecError) as caught:
        for number in range(MOST + 5):
            report.warn("LNT001", f"number {number}")
    assert len(caught.value.diagnostics) == MOST + 1
    assert caught.value.diagnostics[-1].code == "LIM015"


def test_suggestions() -> None:
    assert did_you_mean("casual", ["causal", "sliding"]) == "did you mean `causal`?"
    assert did_you_mean("zebra", ["causal", "sliding"]) == "known here: causal, sliding"
    assert did_you_mean("zebra", [f"name{n}" for n in range(30)]) is None
    assert did_you_mean("zebra", []) is None


def test_lines_and_columns() -> None:
    text = "a\nbc\r\n\nd"
    source = Source("x", text)
    for offset in range(len(text) + 1):
        before = text[:offset]
        assert source.position(offset) == (before.count("\n") + 1, offset - before.rfind("\n"))
    assert [source.line(n) for n in range(7)] == ["", "a", "bc", "", "d", "", ""]
