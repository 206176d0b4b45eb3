"""One statement in lines: the writer's own breaks kept where one may stand, and more where a line is too long."""

from __future__ import annotations

from dataclasses import dataclass

from specc.syntax.format_pieces import BRANCH, CLOSING, OPENING
from specc.syntax.format_run import ITEM, Run

WIDTH = 140
STEP = 2
Place = tuple[int, int, int]  # a piece, its column, and the column that it would have at the beginning of a line
Line = tuple[str, list[Place]]  # its text, and the pieces on it; a line of a comment has none


@dataclass(slots=True)
class _Open:
    """An open bracket: the indentation of its line, the column behind it, and whether its content begins on a line of its own."""

    indent: int
    column: int
    hangs: bool

    @property
    def items(self) -> int:
        return self.indent + STEP if self.hangs else self.column


def lines(run: Run, indent: int, width: int = 0) -> list[str]:
    """The statement in lines. `width`: what the path is padded to. Lines that are too long are broken where they can be."""
    made: set[int] = set()
    while True:
        found = _lines(run, indent, width)
        added = [places for _, on_line in found if (places := _breaks(run, on_line))]
        if not added:
            return [text for text, _ in found]
        for places in added:
            made.update(places)
            run.breaks.update(places)
            run.breaks.discard(_next_item(run, places[-1], made))
        run.settle()


def _next_item(run: Run, at: int, made: set[int]) -> int:
    """The writer's next break between items of the same bracket: what was pushed down goes before it. -1 where it has to stay."""
    if run.levels[at][1] != ITEM or at in run.later_arms:
        return -1
    bracket = run.owners[at]
    found = min((n for n in run.breaks if n > at and run.owners.get(n) == bracket and n in run.levels), default=-1)
    keeps = found < 0 or found in made or run.levels[found][1] != ITEM or run.pieces[found].comments
    return -1 if keeps else found


def _lines(run: Run, indent: int, width: int) -> list[Line]:
    lines: list[Line] = []
    line, on_line = " " * indent, []
    base, stack = indent + STEP, []
    for n, piece in enumerate(run.pieces):
        if n in run.breaks:
            at, above = _columns(run, n, base, stack)
            lines.append((line if piece.trailing is None else f"{line}  {piece.trailing.text}", on_line))
            lines += [(" " * above + comment.text, []) for comment in piece.leading]
            line, on_line = " " * at, []
        elif n:
            pad = n == run.equals and width
            line += " " * max(1, width - (len(line) - indent) + 1) if pad else run.space(n)
        on_line.append((n, len(line), _columns(run, n, base, stack)[0] if n in run.levels else 0))
        line += piece.text
        if piece.text in CLOSING and stack:
            stack.pop()
        elif piece.text in OPENING:
            stack.append(_Open(len(line) - len(line.lstrip(" ")), len(line), n + 1 in run.breaks))
        if run.equals and n == run.equals:
            base = len(line) + 1
    return [*lines, (line, on_line)]


def _columns(run: Run, n: int, base: int, stack: list[_Open]) -> tuple[int, int]:
    """Where a line begins with this piece, and where the comments above it do."""
    if not stack:
        return base, base
    top = stack[-1]
    if run.pieces[n].text in CLOSING:
        return (top.indent if top.hangs else top.items), top.items
    begins = run.levels.get(n, (0, BRANCH))[1] == ITEM
    return (top.items if begins else top.items + STEP,) * 2


def _breaks(run: Run, on_line: list[Place]) -> list[int]:
    """Where a line that is too long is best broken: at the outermost and loosest places, each line as full as can be."""
    end = on_line[-1][1] + len(run.pieces[on_line[-1][0]].text) if on_line else 0
    if end <= WIDTH:  # a comment behind it may run on
        return []
    places = [place for place in on_line[1:] if place[0] in run.levels]
    inner = [place for place in places if run.pieces[place[0] - 1].text not in ("(", "[")]
    for chosen in (inner, places):
        for level in sorted({run.levels[n] for n, _, _ in chosen}):
            if filled := _filled([place for place in chosen if run.levels[place[0]] == level], end):
                return filled
    return [n for n, _, _ in places[:1]]


def _filled(places: list[Place], end: int) -> list[int]:
    """The places of one level before which lines end that are as full as can be; none where not even the first piece fits."""
    found: list[int] = []
    last, moved = None, 0  # the last place that fits, and how far what follows a break has moved to the left
    for place in [*places, None]:
        column = end if place is None else place[1] - 1
        if column - moved > WIDTH and last is not None:
            found.append(last[0])
            last, moved = None, last[1] - last[2]
        if column - moved <= WIDTH:
            last = place
        elif place is not None and not found:
            break
    return found
