"""Published specs with tokens dropped, doubled, exchanged and invented: what the front end must survive."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from specc.diagnostics import render
from specc.diagnostics.finding import Report, SpecError
from specc.resolve.model import resolve
from specc.resolve.program import load_source
from specc.resolve.work import Work
from specc.resources import SPECS
from specc.source import Source
from specc.syntax import lexer, tables
from specc.syntax.parser import parse
from specc.syntax.printer import print_file
from specc.tools.facts import check_facts

FOLDER = SPECS / "models"
NUMBERS = ["0", "1", "-1", "2.5", "1e-300", "9_223_372_036_854_775_807", "1e308", "0x10", "1GiB", "10_000"]
WORDS = "none true repeat layer model extends if then else for in match block weights specc layers use checks".split()
SIGNS = ["\n", "\0", "é", *"{ } ( ) [ ] , : = == + - * ** / // . ?? | \" # ## '".split()]


@cache
def pieces(path: Path) -> tuple[tuple[str, str], ...]:
    """A file's tokens, each with what stands in front of it."""
    source = Source(path.name, path.read_text("utf-8"))
    found, at = [], 0
    for token in lexer.tokenise(source, tables.load()).tokens:
        found.append((source.text[at : token.start], source.text[token.start : token.end]))
        at = token.end
    return tuple(found)


@cache
def seeds() -> tuple[Path, ...]:
    return tuple(sorted(FOLDER.glob("*.specc")))


def kind(text: str) -> str:
    """What a token may be exchanged with: a word, a number, a string or a sign."""
    return "word" if text[:1].isalpha() or text[:1] == "_" else "number" if text[:1].isdigit() else "string" if text[:1] == '"' else "sign"


@cache
def pool() -> dict[str, tuple[str, ...]]:
    """Every token that some published spec holds, by kind."""
    found = sorted({text for path in seeds() for _, text in pieces(path)})
    return {name: tuple(text for text in found if kind(text) == name) for name in ("word", "number", "string", "sign")}


def texts(seed: int, count: int) -> Iterator[tuple[Path, str]]:
    """So many mutated files, each with the file it was made of."""
    rng = random.Random(seed)
    for _ in range(count):
        path = rng.choice(seeds())
        tokens = list(pieces(path))
        for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
            _mutate(tokens, rng)
        yield path, "".join(space + text for space, text in tokens)


def _mutate(tokens: list[tuple[str, str]], rng: random.Random) -> None:
    at = rng.randrange(len(tokens)) if tokens else 0
    other = rng.randrange(len(tokens)) if tokens else 0
    space = tokens[at][0] if tokens else ""
    match rng.choice((0, 1, 2, 3, 3, 3, 3, 4, 5, 6, 7, 8, 8)):  # most keep to the grammar, or few would reach what is behind it
        case 0:
            del tokens[at : at + 1]
        case 1:
            tokens[at:at] = tokens[at : at + 1]
        case 2 if tokens:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case 3 if tokens:
            tokens[at] = (space, rng.choice(pool()[kind(tokens[at][1])] or ("",)))
        case 4:
            tokens[at:at] = [(" ", rng.choice((*NUMBERS, *WORDS, *SIGNS)))]
        case 5:
            tokens[at : at + 1] = [(space, rng.choice((*NUMBERS, *WORDS, *SIGNS)))]
        case 6:  # a run of tokens once more, somewhere else
            tokens[other:other] = tokens[at : at + rng.randrange(1, 20)]
        case 7:
            del tokens[at : at + rng.randrange(1, 20)]
        case 8:  # another number where one stands
            numbers = [n for n, (_, text) in enumerate(tokens) if text[:1].isdigit()]
            if numbers:
                n = rng.choice(numbers)
                tokens[n] = (tokens[n][0], rng.choice(NUMBERS))


def outcome(path: Path, text: str) -> str:
    """`model`, or the first diagnostic's code. Anything else that the front end does is raised."""
    source = Source(path.name, text)
    try:
        tree = parse(source)
        assert parse(Source("printed", print_file(tree))) == tree, "printing and parsing change the tree"
        program, report, work = load_source(source, path), Report(), Work()
        for name in program.own:
            check_facts(resolve(program.models[name], program, report, work=work), report)
        report.raise_errors()
    except SpecError as error:
        assert error.diagnostics, "an error that says nothing"
        assert render.text(error.diagnostics) and render.as_json(error.diagnostics)
        return error.diagnostics[0].code
    return "model"
