"""One statement, or the head of a section: where lines may break, and where they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from specc.syntax.format_pieces import BINARY, BRANCH, CLOSING, OPENING, Piece, space

ITEM = -1  # the level of what begins behind a comma, a bracket, or the word of a match's arm


@dataclass(slots=True)
class Run:
    """Pieces of one statement. `equals`: the place of a field's `=`, 0 for others. `breaks`: before which pieces a line begins."""

    pieces: Sequence[Piece]
    equals: int = 0
    breaks: set[int] = field(default_factory=set)
    levels: dict[int, tuple[int, int]] = field(default_factory=dict)  # where a line may break: depth, and how loosely it binds there
    matches: list[tuple[int, int, list[int]]] = field(default_factory=list)  # braces of each match, and where its arms begin
    unary: set[int] = field(default_factory=set)
    closes: dict[int, int] = field(default_factory=dict)  # opening bracket -> closing one
    owners: dict[int, int] = field(default_factory=dict)  # the innermost bracket that each of `levels` stands in
    later_arms: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._read()
        self.later_arms = {n for _, _, arms in self.matches for n in arms[1:]}
        for n, piece in enumerate(self.pieces[1:], 1):
            if piece.comments:
                self.breaks.add(n)
            elif piece.newline and n in self.levels:
                self.breaks.add(n)
            elif piece.newline and n - 1 in self.levels and self.pieces[n - 1].text in BINARY:
                self.breaks.add(n - 1)  # an operator stands at the beginning of its line
        self._refill()
        self.settle()

    def _refill(self) -> None:
        """A list of single words is filled anew: where it was broken says nothing."""
        for opened, closed in self.closes.items():
            inside = self.pieces[opened + 1 : closed]
            if self.pieces[opened].text == "[" and all((p.text == ",") == bool(n % 2) for n, p in enumerate(inside)):
                if opened + 1 not in self.breaks:
                    self.breaks -= {n for n in range(opened + 1, closed + 1) if not self.pieces[n].comments}

    def _read(self) -> None:
        """Brackets, arms and operators."""
        stack: list[int] = []
        arms: dict[int, list[int]] = {}
        for n, piece in enumerate(self.pieces):
            before = self.pieces[n - 1] if n else None
            following = self.pieces[n + 1].text if n + 1 < len(self.pieces) else ""
            if piece.text in CLOSING and stack:
                opened = stack.pop()
                self.closes[opened] = n
                if opened in arms:
                    self.matches.append((opened, n, arms[opened]))
            depth = len(stack)
            if before is not None and n > self.equals:
                arm = bool(stack) and self.pieces[stack[-1]].text == "{" and following == ":"
                if arm:
                    arms.setdefault(stack[-1], []).append(n)
                if arm or (before.text in ("(", "[", ",") and piece.text not in CLOSING):
                    self.levels[n] = (depth, ITEM)
                elif piece.text in ("then", "else"):
                    self.levels[n] = (depth, BRANCH)
                elif piece.text in BINARY and before.is_operand_end:
                    self.levels[n] = (depth, BINARY[piece.text])
            if n in self.levels and stack:
                self.owners[n] = stack[-1]
            if piece.text in ("+", "-") and (before is None or not before.is_operand_end):
                self.unary.add(n)
            if piece.text in OPENING:
                stack.append(n)

    def settle(self) -> None:
        """What follows from breaks: a match is on one line or an arm a line; a bracket that hangs is closed on a line of its own."""
        for opened, closed, arms in reversed(self.matches):  # an outer one is closed behind its inner ones
            if any(opened < n <= closed for n in self.breaks):
                self.breaks |= {*arms, closed}
        for opened, closed in self.closes.items():
            if opened + 1 in self.breaks and opened + 1 != closed:
                self.breaks.add(closed)

    @property
    def ends_alone(self) -> bool:
        """Whether its last line is a closing bracket."""
        return len(self.pieces) - 1 in self.breaks and self.pieces[-1].text in CLOSING

    @property
    def path_width(self) -> int:
        """The columns of a field's path; 0 where it does not stand on one line."""
        broken = any(n <= self.equals for n in self.breaks)
        return 0 if not self.equals or broken else len(self._flat(self.pieces[: self.equals]))

    def _flat(self, pieces: Sequence[Piece]) -> str:
        return "".join((self.space(n) if n else "") + p.text for n, p in enumerate(pieces))

    def space(self, n: int) -> str:
        """What stands before a piece on its line; the arms of a match stand further apart."""
        return "  " if n in self.later_arms else space(self.pieces[n - 1], self.pieces[n], n - 1 in self.unary)

    @property
    def flat(self) -> str:
        return self._flat(self.pieces)

    @property
    def head(self) -> str:
        """The head of a section on one line, without its brace."""
        return self._flat(self.pieces[:-1])
