"""The LALR(1) automaton: runs the tables over tokens and calls a builder at each reduction. No recursion anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from specc.syntax.lexer import Token
from specc.syntax.tables import Tables

Handler = Callable[[list[Any], int, int], Any]


class Unexpected(Exception):
    """The token at `index` cannot stand where it stands."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


def run(tables: Tables, handlers: Sequence[Handler | None], tokens: Sequence[Token], first: int) -> Any:
    """Parses tokens[first:]. A handler gets a rule's children and the offsets of its text; children that the
    grammar filters out (punctuation) are left out."""
    rows, rules, end_state = tables.rows, tables.rules, tables.end
    states = [tables.start]
    values: list[Any] = []
    starts: list[int] = []
    ends: list[int] = []
    for index in range(first, len(tokens)):
        token = tokens[index]
        kind = token_type(tables, states[-1], token)
        while True:
            action = rows[states[-1]].get(kind)
            if action is None:
                raise Unexpected(index)
            if action > 0:
                states.append(action - 1)
                values.append(token)
                starts.append(token.start)
                ends.append(token.end)
                break
            rule = rules[-action - 1]
            size = rule.size
            if size == 1 and rule.handler is None:  # most reductions: an operand climbs the levels of precedence
                states[-1] = rows[states[-2]][rule.origin] - 1
                continue
            if size:
                base = len(values) - size
                start, end = starts[base], ends[-1]
                children = _children(rule.keep, values, base, rule.grows)
                del states[-size:], values[base:], starts[base:], ends[base:]
            else:
                start = end = token.start
                children = []
            handler = handlers[-action - 1]
            if handler is not None:
                values.append(handler(children, start, end))
            else:
                values.append(children if rule.spliced else children[0])
            starts.append(start)
            ends.append(end)
            states.append(rows[states[-1]][rule.origin] - 1)
            if states[-1] == end_state:
                return values[-1]
    raise AssertionError("the end token is always accepted or refused")


def _children(keep: Sequence[tuple[int, bool]], values: list[Any], base: int, grows: bool) -> list[Any]:
    children: list[Any] = []
    for place, spliced in keep:
        value = values[base + place]
        if not spliced:
            children.append(value)
        elif grows and place == 0:
            children = value  # extended in place: long lists cost one pass
        else:
            children.extend(value)
    return children


def token_type(tables: Tables, state: int, token: Token) -> str:
    """A section word is one only where the grammar takes it; elsewhere it is a name."""
    kind = token.type
    return "NAME" if kind in tables.soft and kind not in tables.rows[state] else kind


def expected(tables: Tables, tokens: Sequence[Token], first: int, index: int) -> frozenset[str]:
    """The terminals that could stand at `index`, found by trying each: a table row alone says too little (it may
    lie behind a reduction) or too much (LALR merges contexts)."""
    states = [tables.start]
    for token in tokens[first:index]:
        _advance(tables, states, token_type(tables, states[-1], token))
    terminals = {*tables.literals, *tables.patterns, "$END"}
    return frozenset(t for t in terminals if t in tables.rows[states[-1]] and _advance(tables, states[:], t))


def _advance(tables: Tables, states: list[int], kind: str) -> bool:
    """Takes one terminal, states only. False where it is refused."""
    while (action := tables.rows[states[-1]].get(kind)) is not None:
        if action > 0:
            states.append(action - 1)
            return True
        rule = tables.rules[-action - 1]
        if rule.size:
            del states[-rule.size :]
        states.append(tables.rows[states[-1]][rule.origin] - 1)
        if states[-1] == tables.end:
            return True
    return False
