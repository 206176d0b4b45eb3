"""The parser's tables: made from `grammar/specc.lark` by Lark, shipped as `tables.json`, read without Lark.

`python -m specc.syntax.tables` writes the file anew; a test holds it fresh. Importing Lark and building its parser
costs about 90 ms in every process, reading the tables 2 ms: that is the whole reason for the file.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("tables.json")


@dataclass(frozen=True, slots=True)
class Rule:
    """One production. `keep` lists the symbols that give children: (place, whether a list is spliced in)."""

    origin: str
    handler: str | None  # None: the only child stands for the whole
    size: int
    keep: tuple[tuple[int, bool], ...]
    spliced: bool  # a helper rule whose value is a list of children
    grows: bool  # such a rule that begins with itself: its list is extended in place


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """`rows[state][symbol]` is n > 0: shift and go to state n - 1; n < 0: reduce by rule -n - 1."""

    rows: tuple[dict[str, int], ...]
    rules: tuple[Rule, ...]
    start: int
    end: int
    literals: dict[str, str]  # terminal -> its fixed spelling
    patterns: dict[str, str]  # terminal -> its regular expression
    soft: frozenset[str]  # the section words: words that are names where no section may begin


@lru_cache(maxsize=1)
def load() -> Tables:
    """The shipped tables."""
    data = json.loads(PATH.read_text(encoding="utf-8"))
    rows, literals = data["rows"], data["literals"]
    name = re.compile(data["patterns"]["NAME"])
    return Tables(
        tuple(rows[n] for n in data["states"]),
        tuple(_rule(*rule) for rule in data["rules"]),
        data["start"],
        data["end"],
        literals,
        data["patterns"],
        frozenset(terminal for terminal, text in literals.items() if name.fullmatch(text)),
    )


def _rule(origin: str, handler: str | None, symbols: list[str], keep: list[int]) -> Rule:
    spliced = origin.startswith("_")
    places = tuple((place, symbols[place].startswith("_") and symbols[place].islower()) for place in keep)
    return Rule(origin, handler, len(symbols), places, spliced, spliced and symbols[0] == origin)


def generate(grammar: str) -> str:
    """The text of `tables.json` for a grammar. Raises where the grammar is not LALR(1)."""
    from lark import Lark
    from lark.parsers.lalr_analysis import LALR_Analyzer, Shift

    lark = Lark(grammar, parser="lalr")
    analysis = LALR_Analyzer(lark.parser.parser_conf, strict=True)  # strict: a shift/reduce conflict is an error
    analysis.compute_lalr()
    table = analysis.parse_table
    numbers = {rule: n for n, rule in enumerate(lark.rules)}
    order = _breadth_first(table.states, table.start_states["start"], Shift)

    def entry(action: Any, target: Any) -> int:
        return order[target] + 1 if action is Shift else -numbers[target] - 1

    rows: list[dict[str, int]] = []
    states: list[int] = []
    for state in order:
        row = {symbol: entry(*table.states[state][symbol]) for symbol in sorted(table.states[state])}
        if row not in rows:
            rows.append(row)
        states.append(rows.index(row))
    data = {
        "start": order[table.start_states["start"]],
        "end": order[table.end_states["start"]],
        "literals": {t.name: t.pattern.value for t in lark.terminals if t.pattern.type == "str"},
        "patterns": {t.name: t.pattern.value for t in lark.terminals if t.pattern.type == "re"},
        "rules": [_describe(rule) for rule in lark.rules],
        "states": states,
        "rows": rows,
    }
    lines = (f"{json.dumps(key)}: {_listed(value)}" for key, value in data.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _listed(value: Any) -> str:
    """JSON with one element of an outer list per line, so that a change of the grammar is a readable diff."""
    if isinstance(value, list) and value and not isinstance(value[0], int):
        return "[\n" + ",\n".join(json.dumps(item, separators=(",", ":")) for item in value) + "\n]"
    return json.dumps(value, separators=(",", ":"))


def _breadth_first(states: dict[Any, dict[str, tuple[Any, Any]]], start: Any, shift: Any) -> dict[Any, int]:
    """Numbers the states by first visit, so that the file depends on the grammar alone."""
    order = {start: 0}
    queue = [start]
    for state in queue:
        for symbol in sorted(states[state]):
            action, target = states[state][symbol]
            if action is shift and target not in order:
                order[target] = len(order)
                queue.append(target)
    return order


def _describe(rule: Any) -> list[Any]:
    symbols = [symbol.name for symbol in rule.expansion]
    every = rule.options.keep_all_tokens
    keep = [n for n, s in enumerate(rule.expansion) if every or not (s.is_term and s.filter_out)]
    passes = rule.options.expand1 and not rule.alias and len(keep) == 1
    return [rule.origin.name, None if passes else rule.alias or rule.origin.name, symbols, keep]


if __name__ == "__main__":
    from specc.resources import GRAMMAR

    PATH.write_text(generate((GRAMMAR / "specc.lark").read_text(encoding="utf-8")), encoding="utf-8")
