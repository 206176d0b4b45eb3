"""Offsets of a text and positions of the protocol: lines end as the protocol says, columns count UTF-16 units."""

from __future__ import annotations

import re
from bisect import bisect_right

from lsprotocol.types import Position, Range

BREAK = re.compile(r"\r\n|\n|\r")


class Lines:
    """The lines of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = text.isascii()
        self.starts = [0, *(found.end() for found in BREAK.finditer(text))]
        self.ends = [*(found.start() for found in BREAK.finditer(text)), len(text)]

    def position(self, offset: int) -> Position:
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.starts, offset) - 1
        before = self.text[self.starts[line] : offset]
        return Position(line, len(before) if self.plain else len(before.encode("utf-16-le")) // 2)

    def range(self, start: int, end: int) -> Range:
        return Range(self.position(start), self.position(end))

    def offset(self, position: Position) -> int:
        """The offset of a position; one behind its line's end is at the end."""
        if position.line >= len(self.starts):
            return len(self.text)
        start, end = self.starts[position.line], self.ends[position.line]
        if self.plain:
            return min(start + position.character, end)
        units = self.text[start:end].encode("utf-16-le")[: 2 * position.character]
        return start + len(units.decode("utf-16-le", "ignore"))
