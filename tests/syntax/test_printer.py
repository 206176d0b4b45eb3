"""The canonical layout: exact texts, and that printing and parsing undo each other on generated trees."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specc.source import Source, Span
from specc.syntax import tree
from specc.syntax.layout import WIDTH
from specc.syntax.parser import parse
from specc.syntax.printer import print_expression, print_file, print_statement

NOWHERE = Span(Source("generated", ""), 0, 0)


def reprinted(text: str) -> str:
    return print_file(parse(Source("test.specc", dedent(text))))


def expression(text: str) -> tree.Expr:
    model = parse(Source("test.specc", f"model m {{ x = {text} }}")).items[0]
    return model.body[0].value


def test_a_model_in_the_canonical_layout() -> None:
    text = """\
        specc 1
        use "a.specc" use "b.specc"
        ## Tiny
        ##
        ##   indented
        model tiny(config) extends base { dim = 64 position=rope( theta:500_000 )
          ## what is seen
          mask = causal   norm = none
          layer one { } layer local { mask = sliding(4096)  norm.attention = none }
          layers = repeat [5*local, one]
          encoder { depth = 2 }
          checks { params == 64  kv_cache(tokens: 8192, dtype: bf16) <= 1GiB }
          require config.x == none else "x"
          weights hf { root = "a" | ""  layers[i].norm.q = "b" }
        }
        block pre(x, memory) { x = x + attention(norm.attention(x)) }
        adapter bot for "tiny.specc" { lora(rank: 16) prefix(length: 20) scale = 2 }
        """
    expected = """\
        specc 1

        use "a.specc"
        use "b.specc"

        ## Tiny
        ##
        ##   indented
        model tiny(config) extends base {
          dim      = 64
          position = rope(theta: 500_000)
          ## what is seen
          mask = causal
          norm = none
          layer one { }
          layer local { mask = sliding(4096)  norm.attention = none }
          layers = repeat [5 * local, one]
          encoder { depth = 2 }

          checks {
            params == 64
            kv_cache(tokens: 8192, dtype: bf16) <= 1GiB
          }

          require config.x == none else "x"

          weights hf {
            root             = "a" | ""
            layers[i].norm.q = "b"
          }
        }

        block pre(x, memory) {
          x = x + attention(norm.attention(x))
        }

        adapter bot for "tiny.specc" {
          lora(rank: 16)
          prefix(length: 20)
          scale = 2
        }
        """
    assert reprinted(text) == dedent(expected)


def test_what_does_not_fit_is_broken() -> None:
    long = "a_rather_long_name_for_a_value"
    text = f"""\
        model m {{
          a = f({long}, two: {long}, three: {long})
          b = {long} + {long} - {long} + ({long} | {long})
          c = if {long} == {long} then {long} else {long}
          d = match {long} {{ "{long}": {long} else: {long} }}
          e = [{long}, {long}, {long}, {long}]
          layer one {{ first = {long}  second = {long}  third = {long} }}
        }}
        """
    expected = f"""\
        model m {{
          a = f(
            {long},
            two: {long},
            three: {long},
          )
          b = {long}
            + {long}
            - {long}
            + ({long} | {long})
          c = if {long} == {long}
            then {long}
            else {long}
          d = match {long} {{
            "{long}": {long}
            else: {long}
          }}
          e = [
            {long},
            {long},
            {long},
            {long},
          ]

          layer one {{
            first  = {long}
            second = {long}
            third  = {long}
          }}
        }}
        """
    assert reprinted(text) == dedent(expected)
    assert reprinted(expected) == dedent(expected)


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("(a + b) + c", "a + b + c"),
        ("a + (b + c)", "a + (b + c)"),
        ("(a * b) + c", "a * b + c"),
        ("(a + b) * c", "(a + b) * c"),
        ("-(2 ** 2)", "-2 ** 2"),
        ("(-2) ** 2", "(-2) ** 2"),
        ("2 ** (-(1))", "2 ** -1"),
        ("2 ** (3 ** 4)", "2 ** 3 ** 4"),
        ("(2 ** 3) ** 4", "(2 ** 3) ** 4"),
        ("- - a", "--a"),
        ("(a < b) == c", "(a < b) == c"),
        ("(a ?? b) == (c and d)", "a ?? b == (c and d)"),
        ("a or (b and c)", "a or b and c"),
        ('("a" | "b")', '"a" | "b"'),
        ("(if a then b else c) + d", "(if a then b else c) + d"),
        ("if (if a then b else c) then (if d then e else f) else (g)", "if (if a then b else c) then if d then e else f else g"),
        ("(match a { 1: b else: c }).d", "(match a { 1: b  else: c }).d"),
        ("(config).layers[(i) + 1].x", "config.layers[i + 1].x"),
        ("(a + b).c", "(a + b).c"),
        ("[for t in (xs): (t + 1)]", "[for t in xs: t + 1]"),
        ("repeat [2 * a, b,]", "repeat [2 * a, b]"),
        ("f(1, a: 2,)", "f(1, a: 2)"),
        ("(3).x", "(3).x"),
    ],
)
def test_parentheses_are_as_few_as_possible(written: str, printed: str) -> None:
    assert print_expression(expression(written)) == printed
    assert expression(printed) == expression(written)


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (0, "0"), (9_999, "9999"), (10_000, "10_000"), (1_234_567, "1_234_567"), (1.0, "1.0"), (1e-5, "1e-5"),
        (1e22, "1e22"), (0.1, "0.1"), (-3, "-3"), (True, "true"), (False, "false"), (None, "none"), ("a b", '"a b"'),
    ],
)  # fmt: skip
def test_literals(value: object, printed: str) -> None:
    assert print_expression(tree.Literal(value, NOWHERE)) == printed


def test_a_number_keeps_its_spelling() -> None:
    assert print_expression(expression("[1GiB, 131072, 1_0, 1.50]")) == "[1GiB, 131072, 1_0, 1.50]"


def test_what_no_spelling_can_hold_is_refused() -> None:
    for value in ('say "a"', "two\nlines", float("inf"), float("nan")):
        with pytest.raises(ValueError, match="of specc can"):
            print_expression(tree.Literal(value, NOWHERE))


def test_a_negative_number_made_by_hand_stands_in_parentheses_where_it_must() -> None:
    power = tree.Binary("**", tree.Literal(-2, NOWHERE), tree.Literal(-1, NOWHERE), NOWHERE)
    assert print_expression(power) == "(-2) ** -1"


def test_a_statement_is_indented_as_asked() -> None:
    field = tree.Field(tree.Path(("norm", "attention"), NOWHERE), tree.Literal(None, NOWHERE), NOWHERE, "why")
    assert print_statement(field, 1) == "  ## why\n  norm.attention = none"


# ---- generated trees

_RESERVED = {"repeat", "for", "in", "match", "if", "then", "else", "require", "and", "or", "true", "false", "none"}
_SECTION_WORDS = ["model", "layer", "block", "encoder", "decoder", "weights", "checks", "adapter", "use", "specc", "extends"]
names = st.one_of(
    st.sampled_from(["x", "norm", "a_rather_long_name_for_a_value", *_SECTION_WORDS]),
    st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True).filter(lambda name: name not in _RESERVED),
)
strings = st.text(st.characters(codec="utf-8", exclude_characters='"\n\0'), max_size=12)
numbers = st.one_of(st.integers(0, 2**63 - 1), st.floats(0, allow_nan=False, allow_infinity=False).map(abs))
literals = st.one_of(numbers, strings, st.booleans(), st.none()).map(lambda value: tree.Literal(value, NOWHERE))
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "??", "|", "and", "or"]


def tuples(strategy: st.SearchStrategy, least: int = 0, most: int = 3) -> st.SearchStrategy:
    return st.lists(strategy, min_size=least, max_size=most).map(tuple)


def node(kind: type, *parts: st.SearchStrategy) -> st.SearchStrategy:
    return st.tuples(*parts).map(lambda values: kind(*values, NOWHERE))


def compound(inner: st.SearchStrategy) -> st.SearchStrategy:
    arguments = tuples(node(tree.Argument, st.none() | names, inner))
    functions = node(tree.Name, names) | node(tree.Attribute, inner, names)
    lists = node(tree.ListOf, tuples(inner))
    patterns = st.none() | literals
    return st.one_of(
        lists,
        node(tree.Repeat, lists),
        node(tree.For, names, inner, inner),
        node(tree.Call, functions, arguments),
        node(tree.Attribute, inner, names),
        node(tree.Index, inner, inner),
        node(tree.Unary, st.sampled_from("+-"), inner),
        node(tree.Binary, st.sampled_from(OPERATORS), inner, inner),
        node(tree.If, inner, inner, inner),
        node(tree.Match, inner, tuples(node(tree.Arm, patterns, inner), 1)),
    )


expressions = st.recursive(node(tree.Name, names) | literals, compound, max_leaves=14)
docs = st.just("") | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20).map(
    lambda text: "\n".join(line.rstrip() for line in text.split("\n")).strip()
)
paths = st.tuples(names, tuples(names | names.map(lambda name: f"[{name}]"))).map(lambda parts: tree.Path((parts[0], *parts[1]), NOWHERE))
fields = st.builds(lambda path, value, doc: tree.Field(path, value, NOWHERE, doc), paths, expressions, docs)
facts = st.recursive(
    node(tree.Name, names),
    lambda fact: node(tree.Attribute, fact, names),
    max_leaves=3,
)
facts = facts | node(tree.Call, facts, tuples(node(tree.Argument, st.none() | names, expressions)))
checks = node(tree.Checks, tuples(node(tree.Check, facts, st.sampled_from(OPERATORS[7:13]), expressions)))
weights = node(tree.Weights, names, tuples(fields))
blocks = st.builds(
    lambda name, parameters, body, doc: tree.Block(name, parameters, body, NOWHERE, doc), names, tuples(names, 1), tuples(fields), docs
)
statements = st.recursive(
    st.one_of(fields, fields, checks, weights, blocks, node(tree.Require, expressions, strings)),
    lambda inner: st.one_of(
        st.builds(lambda name, body, doc: tree.Layer(name, body, NOWHERE, doc), names, tuples(inner), docs),
        node(tree.Stack, st.sampled_from(["encoder", "decoder"]), tuples(inner)),
    ),
    max_leaves=6,
)
calls = node(tree.Call, node(tree.Name, names), tuples(node(tree.Argument, st.none() | names, expressions)))
items = st.one_of(
    node(tree.Use, strings),
    weights,
    blocks,
    st.builds(
        lambda name, parameters, extends, body, doc: tree.Model(name, parameters, extends, body, NOWHERE, NOWHERE, doc),
        names, tuples(names), st.none() | names, tuples(statements, most=5), docs,
    ),
    st.builds(lambda name, target, body, doc: tree.Adapter(name, target, body, NOWHERE, doc),
              names, strings, tuples(fields | calls), docs),
)  # fmt: skip
files = st.builds(lambda version, parts: tree.File(version, parts, NOWHERE), st.sampled_from([None, 1]), tuples(items))
quick = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@quick
@given(files)
def test_parsing_what_was_printed_gives_the_same_tree(file: tree.File) -> None:
    text = print_file(file)
    again = parse(Source("printed", text))
    assert again == file
    assert print_file(again) == text


@settings(quick, max_examples=400)
@given(expressions)
def test_parsing_a_printed_expression_gives_the_same_tree_and_types(value: tree.Expr) -> None:
    again = expression(print_expression(value))
    assert again == value
    assert repr_of_values(again) == repr_of_values(value)  # 1, 1.0 and true are equal, and must not be mixed up


def repr_of_values(value: object) -> str:
    if isinstance(value, tree.Literal):
        return repr(value.value)
    if isinstance(value, tuple):
        return ",".join(map(repr_of_values, value))
    if hasattr(value, "__slots__") and not isinstance(value, Span):
        return ",".join(repr_of_values(getattr(value, name)) for name in value.__slots__)
    return ""


@quick
@given(st.lists(names, min_size=1, max_size=60))
def test_lines_keep_to_the_width_where_names_allow_it(parts: list[str]) -> None:
    text = print_file(parse(Source("x", f"model m {{ x = f({', '.join(parts)})  y = {' + '.join(parts)} }}")))
    assert all(len(line) <= WIDTH for line in text.splitlines())
