"""The TextMate grammar says of every token of every spec what the lexer says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from specc.resources import GRAMMAR, SPECS
from specc.source import Source
from specc.syntax import driver, lexer, tables
from tests.editors.textmate import Grammar, Token

TEXTMATE = GRAMMAR / "specc.tmLanguage.json"
FILES = sorted(SPECS.rglob("*.specc"))
MODULES = Path(os.environ.get("SPECC_NODE_MODULES", GRAMMAR / "vscode" / "node_modules"))
HARD = """\
specc 1
## documented: 1 + 1
### not documented, with "quotes" and model x {
model layer extends model { # a "comment" { [
  layer = layer(eps: 1e-12, bias: true) model.block = 3 checks = none  encoder = [for x in range(1, 2): x]
  weights = if a == b or not_a != 2.5e-3 then "a {i} # b" else match c { "x": 1GiB  else: 500_000 }
  use = 3 require a ?? b >= 2 ** -3 // 4 else "no # model"
  encoder { dim = 4 } decoder { depth = 10k } checks { weights(dtype: bf16) <= 3GiB }
  weights hf { layers[i].norm.attention = transpose("h.{i}.ln_1") | "/x" }
}
block block(x, memory) { x = x + norm.for_it(attention(x)) }
use "other.specc"
adapter lora for "base.specc" { lora(rank: 4) }
"""


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar(TEXTMATE)


def wanted(text: str) -> Iterator[tuple[int, int, str]]:
    """For every token of the lexer, and every comment: its place, and what its scope has to begin with."""
    automaton = tables.load()
    tokens = lexer.tokenise(Source("", text), automaton).tokens
    for token, kind in zip(tokens[:-1], kinds(automaton, tokens), strict=True):
        word = automaton.literals.get(kind, "")
        if kind in ("NUMBER", "STRING"):
            yield token.start, token.end, {"NUMBER": "constant.numeric", "STRING": "string"}[kind]
        elif kind in ("TRUE", "FALSE", "NONE"):
            yield token.start, token.end, "constant.language"
        elif kind in automaton.soft:
            yield token.start, token.end, "storage" if kind not in ("USE", "SPECC") else "keyword.control"
        elif word[:1].isalpha():
            yield token.start, token.end, "keyword"
        elif kind == "NAME":
            yield token.start, token.end, "variable|entity"
        else:
            yield token.start, token.end, "keyword.operator|punctuation"
    for comment in re.finditer(r'"[^"\n]*"|(#[^\n]*)', text):
        if comment[1]:
            yield comment.start(), comment.end(), "comment"


def kinds(automaton: tables.Tables, tokens: list[lexer.Token]) -> list[str]:
    """What the parser takes each token for: a section word may be a name."""
    states, found = [automaton.start], []
    for token in tokens[:-1]:
        kind = driver.token_type(automaton, states[-1], token)
        taken = driver._advance(automaton, states, kind)
        assert taken, f"{token} does not parse"
        rest = lexer.Token(tokens[len(found) + 1].type, "", 0, 0)
        is_name = kind in automaton.soft and rest.type in ("EQUAL", "DOT", "LPAR", "LSQB", "RPAR", "COMMA", "COLON")
        is_named = found and found[-1] in automaton.soft and kind in automaton.soft
        found.append("NAME" if is_name or is_named else kind)
    return found


def disagreements(text: str, tokens: list[Token]) -> list[str]:
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    scopes = [""] * len(text)
    for line, start, end, names in tokens:
        for at in range(starts[line] + start, min(starts[line] + end, len(text))):
            scopes[at] = names[0] if names[0].startswith(("string", "constant.numeric", "comment")) else names[-1]
    wrong = []
    for start, end, kind in wanted(text):
        found = {scopes[at] for at in range(start, end)}
        if not all(scope.startswith(tuple(kind.split("|"))) for scope in found):
            line = text.count("\n", 0, start) + 1
            wrong.append(f"line {line}: `{text[start:end]}` is {sorted(found)}, and should be {kind}")
    return wrong


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(SPECS).as_posix())
def test_every_spec(grammar: Grammar, file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert not disagreements(text, grammar.tokens(text))


def test_what_no_spec_holds(grammar: Grammar) -> None:
    assert not disagreements(HARD, grammar.tokens(HARD))


def test_every_word_and_sign_of_the_lexer_is_in_the_grammar(grammar: Grammar) -> None:
    """A new word of the language is missed here, even if no spec uses it yet."""
    for text in tables.load().literals.values():
        if text[:1].isalpha():
            assert any(re.search(rf"(?<![a-z]){text}(?![a-z])", rule.get("match", "")) for rule in grammar.rules), text
        else:
            assert [text] == ["." if t == "." else text[a:b] for t, a, b in [(text, s, e) for _, s, e, _ in grammar.tokens(text)]], text


def test_the_engine_of_vs_code_says_the_same(grammar: Grammar) -> None:
    if shutil.which("node") is None or not (MODULES / "vscode-textmate").is_dir():
        pytest.skip("vscode-textmate is not installed: `npm install` in grammar/vscode, or SPECC_NODE_MODULES names where it is")
    script = Path(__file__).with_name("tokenise.cjs")
    names = [str(file) for file in FILES]
    done = subprocess.run(["node", script, MODULES, TEXTMATE], input=json.dumps(names), capture_output=True, text=True, check=True)
    for file, tokens in json.loads(done.stdout).items():
        text = Path(file).read_text(encoding="utf-8")
        real = [(line, start, end, tuple(scopes[1:])) for line, start, end, scopes in tokens]
        assert not disagreements(text, real), file
        assert _spread(real) == _spread(grammar.tokens(text)), file


def _spread(tokens: list[Token]) -> dict[tuple[int, int], tuple[str, ...]]:
    """The scopes of every character."""
    return {(line, at): scopes for line, start, end, scopes in tokens for at in range(start, end)}
