"""The tree of every construct, exact spans, the bounds on hostile input, and that the shipped tables are fresh."""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from typing import Any

import pytest

from specc.diagnostics import CODES, SpecError
from specc.resources import GRAMMAR
from specc.source import Source, Span
from specc.syntax import limits, tables, tree
from specc.syntax.parser import parse

NOWHERE = Span(Source("", ""), 0, 0)


def file(text: str) -> tree.File:
    return parse(Source("test.specc", text))


def body(text: str) -> tuple[Any, ...]:
    return file(f"model m {{ {text} }}").items[0].body


def value(text: str) -> tree.Expr:
    (field,) = body(f"x = {text}")
    return field.value


def codes(text: str) -> list[str]:
    with pytest.raises(SpecError) as caught:
        file(text)
    return [found.code for found in caught.value.diagnostics]


def name(text: str) -> tree.Name:
    return tree.Name(text, NOWHERE)


def literal(of: object) -> tree.Literal:
    return tree.Literal(of, NOWHERE)


def binary(operator: str, left: tree.Expr, right: tree.Expr) -> tree.Binary:
    return tree.Binary(operator, left, right, NOWHERE)


A, B, C = name("a"), name("b"), name("c")

EVERYTHING = """\
specc 1
use "base.specc"
## A decoder.
## Second line.
model tiny(config, extra) extends base {
  vocab = 128   dim = config.hidden_size ?? 64
  ## How tokens know where they are.
  position  = rope(theta: 500_000, scaling: yarn(factor: 40, truncate: false))
  embed     = norm.embed(tokens(scale: sqrt(dim)) + learned_position())
  attention = attention(heads: 8, scale: 256 ** -0.5, bias: [q, k, v])
  ffn       = gated(hidden: 4 * dim, activation: match config.act { "silu": silu  else: gelu })
  layer one { }
  ## Sees 4096 keys.
  layer local { mask = sliding(4096)  norm.attention = none }
  layers    = [one, repeat [2 * local, one]]
  kinds     = [for t in config.kinds: if t == "full" then one else local]
  encoder { depth = 6 }
  decoder { depth = 6  block = cross }
  block cross(x, memory) { x = x + 0.22 * attention(norm.attention(x)) }
  checks {
    params == 8_030_261_248
    kv_cache(tokens: 8192, dtype: bf16) <= 1GiB
    layers.local.params < 10M
  }
  require config.softcap == none and config.bias != true else "a soft cap"
  weights hf {
    root = "transformer." | ""
    layers[i].attention.qkv = fused(transpose("h.{i}.c_attn"), order: [q, k, v])
    layers[i].ffn.experts[e].up = "experts.{e}.w3"
  }
}
block pre_norm(x) { x = x + attention(norm.attention(x)) }
adapter bot for "tiny.specc" {
  lora(rank: 16, targets: [attention.q])
  scale = 2
}
weights other { embed.tokens = "wte" }
"""


def test_every_construct_is_read() -> None:
    found = file(EVERYTHING)
    assert found.version == 1
    use, model, block, adapter, weights = found.items
    assert use == tree.Use("base.specc", NOWHERE)
    assert (model.name, model.parameters, model.extends) == ("tiny", ("config", "extra"), "base")
    assert model.doc == "A decoder.\nSecond line."
    assert [type(part).__name__ for part in model.body] == [
        *["Field"] * 6, "Layer", "Layer", "Field", "Field", "Stack", "Stack", "Block", "Checks", "Require", "Weights",
    ]  # fmt: skip
    fields = {str(part.path): part for part in model.body if isinstance(part, tree.Field)}
    assert fields["position"].doc == "How tokens know where they are."
    assert fields["dim"].doc == ""
    one, local = (part for part in model.body if isinstance(part, tree.Layer))
    assert (one.body, local.doc, str(local.body[1].path)) == ((), "Sees 4096 keys.", "norm.attention")
    checks = next(part for part in model.body if isinstance(part, tree.Checks))
    assert [check.operator for check in checks.items] == ["==", "<=", "<"]
    assert [check.value.value for check in checks.items] == [8_030_261_248, 1 << 30, 10_000_000]
    assert isinstance(checks.items[1].fact, tree.Call)
    require = next(part for part in model.body if isinstance(part, tree.Require))
    assert (require.condition.operator, require.otherwise) == ("and", "a soft cap")
    mapping = next(part for part in model.body if isinstance(part, tree.Weights))
    assert mapping.fields[2].path.parts == ("layers", "[i]", "ffn", "experts", "[e]", "up")
    assert str(mapping.fields[2].path) == "layers[i].ffn.experts[e].up"
    assert (block.name, block.parameters) == ("pre_norm", ("x",))
    assert (adapter.name, adapter.target) == ("bot", "tiny.specc")
    assert [type(part).__name__ for part in adapter.body] == ["Call", "Field"]
    assert weights.name == "other"


def test_an_empty_file_has_no_items() -> None:
    assert file("") == file(" # nothing\n") == tree.File(None, (), NOWHERE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a - b - c", binary("-", binary("-", A, B), C)),
        ("a + b * c", binary("+", A, binary("*", B, C))),
        ("a * b // c % a", binary("%", binary("//", binary("*", A, B), C), A)),
        ("(a + b) * c", binary("*", binary("+", A, B), C)),
        ("a ** b ** c", binary("**", A, binary("**", B, C))),
        ("-a ** b", tree.Unary("-", binary("**", A, B), NOWHERE)),
        ("a ** -b", binary("**", A, tree.Unary("-", B, NOWHERE))),
        ("a ?? b == c", binary("==", binary("??", A, B), C)),
        ("a ?? b + c", binary("??", A, binary("+", B, C))),
        ("a == b and b != c or c", binary("or", binary("and", binary("==", A, B), binary("!=", B, C)), C)),
        ('"x" | a or b', binary("|", literal("x"), binary("or", A, B))),
        ("a.b[c].a", tree.Attribute(tree.Index(tree.Attribute(A, "b", NOWHERE), C, NOWHERE), "a", NOWHERE)),
        ("if a then b else if b then c else a", tree.If(A, B, tree.If(B, C, A, NOWHERE), NOWHERE)),
        ("[a, b,]", tree.ListOf((A, B), NOWHERE)),
        ("[]", tree.ListOf((), NOWHERE)),
        ("[for t in a: t]", tree.For("t", A, name("t"), NOWHERE)),
        ("repeat [a]", tree.Repeat(tree.ListOf((A,), NOWHERE), NOWHERE)),
        ("a()", tree.Call(A, (), NOWHERE)),
        ("a(b, c: a,)", tree.Call(A, (tree.Argument(None, B, NOWHERE), tree.Argument("c", A, NOWHERE)), NOWHERE)),
        ("match a { 1: b  none: c  else: a }", tree.Match(
            A, (tree.Arm(literal(1), B, NOWHERE), tree.Arm(literal(None), C, NOWHERE), tree.Arm(None, A, NOWHERE)), NOWHERE)),
    ],
)  # fmt: skip
def test_expressions(text: str, expected: tree.Expr) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0), ("500_000", 500_000), ("9223372036854775807", 2**63 - 1), ("1e-5", 1e-5), ("1.0", 1.0), ("1e6", 1e6),
        ("1_0.2_5", 10.25), ("0.0", 0.0), ("0e5", 0.0), ("4k", 4000), ("2M", 2_000_000), ("1G", 10**9), ("1.5k", 1500),
        ("2KiB", 2048), ("1MiB", 1 << 20), ("1.5GiB", 3 << 29), ("true", True), ("false", False), ("none", None),
        ('"a # b"', "a # b"), ('""', ""), (r'"\n"', r"\n"),
    ],
)  # fmt: skip
def test_literals(text: str, expected: object) -> None:
    found = value(text)
    assert isinstance(found, tree.Literal)
    assert (found.value, type(found.value)) == (expected, type(expected))
    assert found.text == (text if isinstance(expected, (int, float)) and not isinstance(expected, bool) else None)


def test_section_words_are_names_where_no_section_may_begin() -> None:
    fields = body("block = layer  layer = encoder(use: model)  encoder.position = specc  layer model { block = 1 }  use = 2")
    assert [type(part).__name__ for part in fields] == ["Field", "Field", "Field", "Layer", "Field"]
    assert str(fields[2].path) == "encoder.position"


def test_a_line_that_begins_with_a_sign_continues_the_line_above() -> None:
    assert value("a\n  - b") == binary("-", A, B)
    assert value("a\n  (b)") == tree.Call(A, (tree.Argument(None, B, NOWHERE),), NOWHERE)


def test_doc_comments_stand_immediately_above_on_lines_of_their_own() -> None:
    fields = body("a = 1 ## no\nb = 1\n## no\n\nc = 1\n## no\n# plain\nd = 1\n### rule\ne = 1\n##yes\r\n##\r\n##   deep\r\n  f = 1")
    assert {str(field.path): field.doc for field in fields} == {
        "a": "", "b": "", "c": "", "d": "", "e": "", "f": "yes\n\n  deep",
    }  # fmt: skip


def test_a_byte_order_mark_is_passed_over() -> None:
    assert file("\ufeff## Doc\nmodel m { }").items[0].doc == "Doc"


# ---- spans


def test_spans_are_exact() -> None:
    found = file(EVERYTHING)
    assert found.version_span is not None
    assert found.version_span.text == "specc 1"
    _, model, block, adapter, _ = found.items
    assert model.name_span.text == "tiny"
    assert model.span.text.startswith("model tiny(") and model.span.text.endswith('w3"\n  }\n}')
    assert block.span.text == "block pre_norm(x) { x = x + attention(norm.attention(x)) }"
    assert adapter.body[0].span.text == "lora(rank: 16, targets: [attention.q])"
    position = model.body[2]
    assert position.span.text == position.path.span.text + "  = " + position.value.span.text
    assert (position.span.line, position.span.column) == (8, 3)
    argument = position.value.arguments[1]
    assert argument.span.text == "scaling: yarn(factor: 40, truncate: false)"
    assert argument.value.arguments[0].value.span.text == "40"
    assert model.body[7].body[1].path.span.text == "norm.attention"


@pytest.mark.parametrize(
    "text",
    [
        "(a + b) * (c)",
        "-(a)",
        "f(a, b: c)",
        "a.b[c]",
        "[for t in a: t]",
        "repeat [a]",
        "if a then b else (c)",
        "match a { else: b }",
        "1GiB",
        '"s"',
    ],
)
def test_the_span_of_an_expression_is_its_text(text: str) -> None:
    assert value(text).span.text == text
    assert all(part.span.text in text for part in _operands(value(text)))


def _operands(node: tree.Expr) -> list[tree.Expr]:
    return [node.left, node.right] if isinstance(node, tree.Binary) else []


def test_the_spans_of_a_row_of_operations_grow_to_the_right() -> None:
    outer = value("a + (b) + c")
    assert (outer.span.text, outer.left.span.text) == ("a + (b) + c", "a + (b)")


# ---- limits

LONG = 100_000
HOSTILE = {
    "parentheses": ("model m { x = " + "(" * 200_000, "LIM002"),
    "closed parentheses": ("model m { x = " + "(" * 200_000 + "1" + ")" * 200_000 + " }", "LIM002"),
    "braces": ("model m { layer a " * 50_000, "LIM002"),
    "minuses": ("model m { x = " + "-" * LONG + "1 }", "LIM003"),
    "powers": ("model m { x = " + "2**" * (LONG - 10) + "1 }", "LIM003"),
    "else if": ("model m { x = " + "if a then b else " * 30_000 + "c }", "LIM003"),
    "calls": ("model m { x = " + "f(-" * 98 + "1" + ")" * 98 + " }", "LIM003"),
    "sum": ("model m { x = " + "1+" * (LONG - 10) + "1 }", "LIM004"),
    "attributes": ("model m { x = a" + ".a" * (LONG - 10) + " }", "LIM004"),
    "subscripts": ("model m { x = a" + "[0]" * 60_000 + " }", "LIM004"),
    "alternatives": ("model m { x = " + '"a"|' * 90_000 + '"a" }', "LIM004"),
    "integer": ("model m { x = 9223372036854775808 }", "LIM005"),
    "suffixed integer": ("model m { x = 10_000_000_000G }", "LIM005"),
    "large float": ("model m { x = 1e309 }", "LIM006"),
    "small float": ("model m { x = 1e-400 }", "LIM006"),
    "large floats": ("model m { x = [" + "1e999," * 90_000 + "] }", "LIM006"),
    "NUL": ("model m { }\0", "LIM007"),
    "digits": ("model m { x = " + "9" * 1_000_000 + " }", "LIM008"),
    "names": ("model m { x = [" + "a," * 500_000 + "] }", "LIM009"),
    "size": ("#" * (limits.TEXT + 1), "LIM001"),
    "size in bytes": ("#" + "é" * (limits.TEXT // 2), "LIM001"),
    "sections": ("model " * 170_000, "SYN001"),
    "many mistakes": ("model m { x }\n" * 30_000, "SYN001"),
    "stray characters": (";@" * 500_000, "SYN006"),
    "quotes": ('model m { x = "' + "\n" * 1_000_000, "SYN005"),
    "bad number": ("model m { x = " + "1_" * 500_000 + " }", "SYN007"),
    "path": ("model m { x" + "[i]" * 60_000 + " 1 }", "SYN001"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_input_ends_in_a_diagnostic_within_a_second(kind: str) -> None:
    text, code = HOSTILE[kind]
    start = time.process_time()
    found = codes(text)
    assert time.process_time() - start < 3  # a second where nothing else runs
    assert found[0] == code
    assert len(found) <= limits.ERRORS


def test_memory_stays_within_bounds() -> None:
    text = "model m { x = [" + "a," * 20_000 + "] }"
    tracemalloc.start()
    file(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 << 20


def test_what_lies_within_the_limits_is_read() -> None:
    assert len(value("[" + "a, " * 5000 + "]").items) == 5000
    total, terms = value("1+" * 199 + "1"), 1
    while isinstance(total, tree.Binary):
        total, terms = total.left, terms + 1
    assert terms == 200
    assert value("(" * 99 + "a" + ")" * 99) == A
    nested = value("f(" * 99 + "a" + ")" * 99)
    assert hash(nested) == hash(nested) and "Call" in repr(nested)
    assert value("-" * 99 + "a") is not None


def test_bytes_that_are_not_utf8_are_reported_where_they_stand() -> None:
    with pytest.raises(SpecError) as caught:
        parse(limits.decode("latin.specc", b"model caf" + b"\xe9 { }"))
    (found,) = caught.value.diagnostics
    assert (found.code, found.message, found.span and found.span.start) == ("LIM007", "the file holds bytes that are not UTF-8", 9)
    with pytest.raises(SpecError) as caught:
        limits.decode("large.specc", b"#" * (limits.TEXT + 1))
    assert caught.value.diagnostics[0].code == "LIM001"
    assert limits.decode("good.specc", "é".encode()).text == "é"


# ---- the tables


def test_the_shipped_tables_are_those_of_the_grammar() -> None:
    grammar = (GRAMMAR / "specc.lark").read_text(encoding="utf-8")
    assert tables.PATH.read_text(encoding="utf-8") == tables.generate(grammar), "run: python -m specc.syntax.tables"


def test_a_grammar_with_a_conflict_is_refused() -> None:
    from lark.exceptions import GrammarError

    with pytest.raises(GrammarError):
        tables.generate('start: a "+" a\na: a "+" a | "x"')


def test_lark_itself_accepts_the_same_text_by_the_same_grammar() -> None:
    from lark import Lark, Token, Tree

    lark = Lark((GRAMMAR / "specc.lark").read_text(encoding="utf-8"), parser="lalr")
    words = "block = layer  layer = encoder(use: model)  encoder.position = specc  layer model { block = 1 }"
    for text in (EVERYTHING, f"model m {{ {words} }}"):
        tops = [part for part in lark.parse(text).children if isinstance(part, Tree) and part.data != "version"]
        names = [next(t for t in top.children if isinstance(t, Token)).strip('"') for top in tops]
        assert names == [getattr(item, "name", None) or item.path for item in file(text).items]


def test_the_grammar_names_no_component() -> None:
    text = (GRAMMAR / "specc.lark").read_text(encoding="utf-8")
    words = set(tables.load().literals.values())
    assert {word for word in words if word.isalpha()} == {
        "specc", "use", "model", "extends", "adapter", "for", "layer", "block", "encoder", "decoder", "checks", "require",
        "else", "weights", "if", "then", "match", "or", "and", "in", "repeat", "true", "false", "none",
    }  # fmt: skip
    assert "rope" not in text and "attention" not in text


def test_parsing_imports_no_lark_and_starts_fast() -> None:
    program = (
        "import sys, time; start = time.process_time()\n"
        "from specc.source import Source\nfrom specc.syntax.parser import parse\n"
        "parse(Source('x', sys.stdin.read()))\n"
        "assert 'lark' not in sys.modules\nprint(time.process_time() - start)\n"
    )
    seconds = [
        float(subprocess.run([sys.executable, "-c", program], input=EVERYTHING, text=True, capture_output=True, check=True).stdout)
        for _ in range(3)
    ]
    assert min(seconds) < 0.12


@pytest.mark.parametrize("code", [code for code in CODES.values() if code.id.startswith(("SYN", "LIM00")) and code.wrong])
def test_the_examples_of_the_code_table(code: Any) -> None:
    assert codes(code.wrong) == [code.id]
    file(code.right)
