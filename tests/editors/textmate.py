"""A TextMate engine for the little that specc's grammar uses: match, begin and end, include, captures.

It is held against VS Code's own where that is installed, so that the grammar can be tested where it is not.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

Token = tuple[int, int, int, tuple[str, ...]]  # line from 0, first column, behind the last, scopes from the outside in


class Grammar:
    def __init__(self, path: Path) -> None:
        self.data = json.loads(path.read_text(encoding="utf-8"))
        self.rules = self._flat(self.data["patterns"])

    def _flat(self, patterns: list[dict]) -> list[dict]:
        found = []
        for pattern in patterns:
            if "include" in pattern:
                found += self._flat([self.data["repository"][pattern["include"].removeprefix("#")]])
            elif "match" in pattern or "begin" in pattern:
                found.append(pattern)
            else:
                found += self._flat(pattern["patterns"])
        return found

    def tokens(self, text: str) -> list[Token]:
        found: list[Token] = []
        for number, line in enumerate(text.split("\n")):
            at = 0
            known: dict[int, re.Match | None] = {}
            while (hit := self._first(self.rules, line, at, known)) is not None:
                rule, match = hit
                if "begin" in rule:
                    at = self._inside(rule, line, number, match, found)
                else:
                    found += self._captured(rule, match, number, ())
                    at = match.end()
                if match.end() == match.start():
                    at += 1
        return found

    @staticmethod
    def _first(rules: list[dict], line: str, at: int, known: dict[int, re.Match | None] | None = None) -> tuple[dict, re.Match] | None:
        """The rule that matches first, the earliest in the list where several do. known: what was found further left."""
        best: tuple[dict, re.Match] | None = None
        known = {} if known is None else known
        for number, rule in enumerate(rules):
            match = known.get(number)
            if number not in known or (match is not None and match.start() < at):
                match = known[number] = re.compile(rule.get("match") or rule["begin"]).search(line, at)
            if match is not None and (best is None or match.start() < best[1].start()):
                best = rule, match
        return best

    def _inside(self, rule: dict, line: str, number: int, begin: re.Match, found: list[Token]) -> int:
        """A range that ends on its line, as specc's strings do."""
        end = re.compile(rule["end"]).search(line, begin.end())
        assert end is not None, "a range has to end with its line"
        inner = self._flat(rule["patterns"])
        at = begin.start()
        while (hit := self._first(inner, line, max(at, begin.end()))) is not None and hit[1].end() <= end.start():
            if at < hit[1].start():
                found.append((number, at, hit[1].start(), (rule["name"],)))
            found += self._captured(hit[0], hit[1], number, (rule["name"],))
            at = hit[1].end()
        if at < end.end():
            found.append((number, at, end.end(), (rule["name"],)))
        return end.end()

    @staticmethod
    def _captured(rule: dict, match: re.Match, number: int, outside: tuple[str, ...]) -> list[Token]:
        whole = outside + ((rule["name"],) if "name" in rule else ())
        found, at = [], match.start()
        for group, captured in sorted((int(n), c) for n, c in rule.get("captures", {}).items()):
            start, end = match.span(group)
            if start < 0:
                continue
            if at < start and whole:
                found.append((number, at, start, whole))
            found.append((number, start, end, (*whole, captured["name"])))
            at = end
        if at < match.end() and whole:
            found.append((number, at, match.end(), whole))
        return found
