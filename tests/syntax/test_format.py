"""The formatter: exact layouts, and that on anything it keeps the tree and the comments and is at rest after one pass."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specc.diagnostics import SpecError
from specc.resources import SPECS
from specc.source import Source
from specc.syntax import tree
from specc.syntax.format import format_text
from specc.syntax.format_fill import WIDTH
from specc.syntax.format_pieces import pieces
from specc.syntax.parser import parse
from specc.syntax.printer import print_file
from tests.syntax.test_printer import files


def formatted(text: str) -> str:
    return format_text(Source("test.specc", text))


def comments(text: str) -> list[str]:
    return [comment.text for piece in pieces(Source("test.specc", text)) for comment in piece.comments]


def words(text: str) -> list[str]:
    return [piece.text for piece in pieces(Source("test.specc", text))]


def holds(text: str) -> str:
    """The formatted text, if all that is promised of it is true."""
    found = formatted(text)
    assert words(found) == words(text), "words and signs stay as they are"
    assert comments(found) == comments(text), "every comment stays, in its place"
    assert parse(Source("a", found)) == parse(Source("a", text)), "and documents what it did"
    assert formatted(found) == found, "a second pass changes nothing"
    assert not re.search(r"[ \t\r]\n|\n\n\n|\A\n|\n\n\Z|\{\n\n|\n\n *\}", found), "no blank where none belongs"
    return found


CASES = {
    "from one line": (
        'specc 1 use "a.specc" use "b.specc" model m(config) extends base{dim=64 position=rope( theta:500_000 , layout : half) '
        'layer one{} layer local{mask=sliding(4096)norm.attention=none} layers=repeat[5*local,one] checks{params==64 depth<=4}'
        'require config.x==none else"x" weights hf{root="a"|"" layers[i].norm.q="b"}}block pre(x,y){x=x+attention(norm.attention(x))}',
        """\
        specc 1
        use "a.specc"
        use "b.specc"

        model m(config) extends base {
          dim      = 64
          position = rope(theta: 500_000, layout: half)
          layer one { }
          layer local { mask = sliding(4096)  norm.attention = none }
          layers = repeat [5 * local, one]
          checks { params == 64  depth <= 4 }
          require config.x == none else "x"

          weights hf {
            root = "a" | ""
            layers[i].norm.q = "b"
          }
        }

        block pre(x, y) {
          x = x + attention(norm.attention(x))
        }
        """,
    ),
    "comments stay where they are": (
        """\
        # at the top
        specc 1   # the version


        # about the model
        ## Tiny
        model tiny { # opens
            # first

            dim=64# trailing
              ## what is seen
            mask = causal


            # before the end
        } # closed
        # at the end
        """,
        """\
        # at the top
        specc 1  # the version

        # about the model
        ## Tiny
        model tiny {  # opens
          # first

          dim = 64  # trailing
          ## what is seen
          mask = causal

          # before the end
        }  # closed
        # at the end
        """,
    ),
    "runs": (
        """\
        model m {
          a = 1
          longer = 2

          b = 3
          much_longer = 4
          # a comment parts them
          c = 5
          even_much_longer = f(1,
            2)
          d = match x {
            1: 2
            else: 3 }
          another = 6
        }
        """,
        """\
        model m {
          a      = 1
          longer = 2

          b           = 3
          much_longer = 4
          # a comment parts them
          c                = 5
          even_much_longer = f(1,
                               2)
          d                = match x {
            1: 2
            else: 3
          }
          another = 6
        }
        """,
    ),
    "breaks of the writer": (
        """\
        model m {
          a = f(
          x,
              two: y + z,
            )
          b = g(x,
           y, z
           )
          c = one +
            two
             - three
          d = if a
           then b
           else
           c
          e
            =
            1
          f = ["a",
            "b"]
        }
        """,
        """\
        model m {
          a = f(
            x,
            two: y + z,
          )
          b = g(x,
                y, z)
          c = one
              + two
              - three
          d = if a
              then b
              else c
          e = 1
          f = ["a", "b"]
        }
        """,
    ),
    "comments inside": (
        """\
        model m {
          a = f(x, # the first
           # the second
             y)
          b = # why
            1
          layer # odd
            one { mask = causal }
          c = match x { "a": 1 # one
            else: 2 }
        }
        """,
        """\
        model m {
          a = f(x,  # the first
                # the second
                y)
          b =  # why
              1

          layer  # odd
            one {
            mask = causal
          }

          c = match x {
            "a": 1  # one
            else: 2
          }
        }
        """,
    ),
    "signs": (
        "model m { a = - -b ** -c[ 1 ] . d + (e - 1) * [ -f , g( ) ]  h = [for i in range(3): i % 2 == 0]  k = if a and b or c then (d) else e ?? f }",
        """\
        model m {
          a = --b ** -c[1].d + (e - 1) * [-f, g()]
          h = [for i in range(3): i % 2 == 0]
          k = if a and b or c then (d) else e ?? f
        }
        """,
    ),
    "sections of one line": (
        """\
        model m {
          layer local {mask = sliding(4)  position = none}
          layer global { mask = causal  position = rope }
          layer other {
            mask = causal }
          layer last { mask = causal }
        }
        """,
        """\
        model m {
          layer local  { mask = sliding(4)  position = none }
          layer global { mask = causal      position = rope }

          layer other {
            mask = causal
          }

          layer last { mask = causal }
        }
        """,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_the_layout(text: str, expected: str) -> None:
    assert holds(dedent(text)) == dedent(expected)


def test_what_is_too_long_is_filled() -> None:
    word = "a_rather_long_name"
    text = f"model m {{ a = f({', '.join([word] * 12)})  b = {' + '.join([word] * 9)}  layer x {{ c = g({', '.join([word] * 7)}) }} }}"
    found = holds(text)
    assert all(len(line) <= WIDTH for line in found.splitlines())
    assert f"  a = f({', '.join([word] * 6)},\n        {word}," in found
    assert f"\n      + {word}" in found


def test_a_comment_may_run_on() -> None:
    text = f"model m {{\n  dim = 64  # {'why ' * 60}\n}}\n"
    assert holds(text) == text.replace("  \n", "\n").replace("why \n", "why\n")


@pytest.mark.parametrize(
    "text", ["", "# nothing else\n", "\ufeff# marked\n\n\n\nspecc 1", "specc 1\r\n\r\nmodel m {\r\n  dim = 1 # x\r\n}\r\n"]
)
def test_odd_files(text: str) -> None:
    assert "\r" not in holds(text)


def test_what_does_not_parse_is_refused() -> None:
    with pytest.raises(SpecError):
        formatted("model {")


# ---- on anything

GAPS = ["", " ", "\n", "\n\n\n", "\t", " # c\n", "# c\r\n", "\n# c\n", "\n## d\n", "\n## d\n\n", "\n\n### e\n# c\n", "  ## f\n## g\n"]
gaps = st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from(GAPS)), max_size=12)
quick = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def strewn(text: str, inserted: list[tuple[int, str]]) -> str:
    """The text with blanks and comments put between its words."""
    starts = [piece.start for piece in pieces(Source("test.specc", text))]
    at = sorted(((starts[place % len(starts)], gap) for place, gap in inserted), reverse=True)
    for start, gap in at:
        text = text[:start] + gap + text[start:]
    return text


@settings(quick, max_examples=200)
@given(files, gaps)
def test_generated_files(file: tree.File, inserted: list[tuple[int, str]]) -> None:
    holds(strewn(print_file(file), inserted))


@quick
@given(files, st.data())
def test_generated_files_on_one_line(file: tree.File, data: st.DataObject) -> None:
    """Every break lost, but where a comment needs one."""
    text = print_file(file)
    parts, end = [], 0
    for piece in pieces(Source("test.specc", text)):
        gap = text[end : piece.start]
        parts += [gap if "#" in gap else " ", piece.text]
        end = piece.end
    holds("".join(parts))


SHIPPED = sorted(SPECS.rglob("*.specc"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_specc_brings(path) -> None:
    found = holds(path.read_text(encoding="utf-8"))
    assert all(len(line) <= WIDTH or '"' in line or "#" in line for line in found.splitlines())


@quick
@given(st.sampled_from(SHIPPED), gaps)
def test_what_specc_brings_with_comments_anywhere(path, inserted: list[tuple[int, str]]) -> None:
    holds(strewn(path.read_text(encoding="utf-8"), inserted))
