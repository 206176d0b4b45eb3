"""The canonical layout of a text that keeps its comments: `specc fmt`.

Words and signs stay as they are written; what is between them is made anew. A statement has a line of its own, and keeps the
breaks inside it where one may stand; the `=` of neighbouring fields are aligned; of several blank lines one is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from specc.source import Source
from specc.syntax import tree
from specc.syntax.format_fill import STEP, WIDTH, lines
from specc.syntax.format_pieces import Piece, pieces
from specc.syntax.format_run import Run
from specc.syntax.parser import parse

ROUNDS = 20  # each can only add breaks, and the next may align what they left together
Section = tree.Model | tree.Adapter | tree.Block | tree.Layer | tree.Stack | tree.Checks | tree.Weights
Written = tree.Statement | tree.Use | tree.Model | tree.Adapter | tree.Call | tree.Check


def format_text(source: Source) -> str:
    """The text in the canonical layout; formatting that gives it again. Raises SpecError where it does not parse."""
    text = source.text
    for _ in range(ROUNDS):
        formatted = _Writer(Source(source.name, text)).text()
        if formatted == text:
            break
        text = formatted
    return text


@dataclass(slots=True)
class _Entry:
    """A statement with its place among the pieces, and how it is laid out. `brace`: where a section opens."""

    node: Written
    first: int
    last: int
    run: Run
    brace: int | None = None
    width: int = 0  # what a field's path, or a one-line section's head, is padded to
    columns: tuple[int, ...] = ()  # what the fields of a one-line section are padded to
    one_line: bool = False
    blank: bool = False  # whether it stands apart from what is above it


class _Writer:
    def __init__(self, source: Source) -> None:
        self.file = parse(source)
        self.pieces = pieces(source)
        self.at_start = {p.start: n for n, p in enumerate(self.pieces)}
        self.at_end = {p.end: n for n, p in enumerate(self.pieces[:-1])}
        self.lines: list[str] = []

    def text(self) -> str:
        entries = [self._entry(item) for item in self.file.items]
        if self.file.version_span is not None:
            span = self.file.version_span
            first, last = self.at_start[span.start], self.at_end[span.end]
            entries.insert(0, _Entry(tree.Use("", span), first, last, Run(self.pieces[first : last + 1])))
        for before, entry in pairwise(entries):
            entry.blank = not (isinstance(before.node, tree.Use) and isinstance(entry.node, tree.Use))
        self._entries(entries, 0)
        self._dangling(self.pieces[-1], 0, bool(entries))
        return "\n".join(self.lines) + "\n" if self.lines else ""

    # ---- what there is

    def _entry(self, node: Written) -> _Entry:
        first, last = self.at_start[node.span.start], self.at_end[node.span.end]
        if not isinstance(node, Section):
            equals = 0
            if isinstance(node, tree.Field):
                equals = next(n for n in range(first, last) if self.pieces[n].start >= node.path.span.end) - first
            return _Entry(node, first, last, Run(self.pieces[first : last + 1], equals))
        brace = next(n for n in range(first, last) if self.pieces[n].text == "{")
        return _Entry(node, first, last, Run(self.pieces[first : brace + 1]), brace)

    @staticmethod
    def _inside(node: Section) -> Sequence[Written]:
        match node:
            case tree.Block() | tree.Weights():
                return node.fields
            case tree.Checks():
                return node.items
        return node.body

    def _is_short(self, entry: _Entry) -> bool:
        """Whether a section was written on one line and may stay there."""
        if entry.brace is None or isinstance(entry.node, tree.Model | tree.Block | tree.Weights | tree.Adapter):
            return False
        inside = self._inside(entry.node)
        if not inside or not all(isinstance(s, tree.Field | tree.Check) for s in inside):
            return False
        return not any(p.newline or p.comments for p in self.pieces[entry.first + 1 : entry.last + 1])

    def _short(self, entry: _Entry, indent: int) -> str:
        inside = [text.ljust(column) for text, column in zip_longest(self._fields(entry), entry.columns, fillvalue=0)]
        return f"{' ' * indent}{entry.run.head.ljust(entry.width)} {{ {'  '.join(inside)} }}"

    def _fields(self, entry: _Entry) -> list[str]:
        return [self._entry(s).run.flat for s in self._inside(entry.node)]

    # ---- lines

    def _entries(self, entries: list[_Entry], indent: int, section: Section | None = None) -> None:
        """Statements that follow one another, each with the comments above it and behind it."""
        for entry in entries:
            entry.one_line = self._is_short(entry)
        for run in self._runs(entries, section):
            width = max(self._width(entry) for entry in run)
            columns = self._columns(run) if run[0].one_line else ()
            for entry in run:
                entry.width, entry.columns = width, columns
        for entry in entries:
            entry.one_line = entry.one_line and len(self._short(entry, indent)) <= WIDTH
        for number, entry in enumerate(entries):
            apart = number > 0 and (entry.blank or self._is_long(entry) or self._is_long(entries[number - 1]))
            self._above(self.pieces[entry.first], indent, number == 0, apart)
            self._write(entry, indent)
            self._behind(self.pieces[entry.last + 1])

    def _runs(self, entries: list[_Entry], section: Section | None) -> list[list[_Entry]]:
        """Neighbours that are aligned: fields, and sections of one line. A block's lines are formulas, and stand as they are."""
        runs: list[list[_Entry]] = []
        for number, entry in enumerate(entries):
            if isinstance(section, tree.Block) or not self._width(entry):
                continue
            before = entries[number - 1] if number else None
            piece = self.pieces[entry.first]
            joins = (
                before is not None
                and self._width(before)
                and type(before.node) is type(entry.node)
                and not piece.blank
                and not piece.leading
            )
            if joins and not before.run.ends_alone and self._is_setting(before, section) == self._is_setting(entry, section):
                runs[-1].append(entry)
            else:
                runs.append([entry])
        return runs

    def _columns(self, run: list[_Entry]) -> tuple[int, ...]:
        """One-line sections of the same fields are a table."""
        heads = {tuple(str(s.path) if isinstance(s, tree.Field) else "" for s in self._inside(entry.node)) for entry in run}
        if len(run) == 1 or len(heads) > 1:
            return ()
        return tuple(max(map(len, texts)) for texts in zip(*map(self._fields, run), strict=True))[:-1]

    @staticmethod
    def _is_setting(entry: _Entry, section: Section | None) -> bool:
        """`root` and `ignore` of a weights section are no rules, and stand apart from them."""
        return isinstance(section, tree.Weights) and isinstance(entry.node, tree.Field) and str(entry.node.path) in ("root", "ignore")

    @staticmethod
    def _width(entry: _Entry) -> int:
        if isinstance(entry.node, tree.Field):
            return entry.run.path_width
        return len(entry.run.head) if entry.one_line and isinstance(entry.node, tree.Layer) else 0

    @staticmethod
    def _is_long(entry: _Entry) -> bool:
        return entry.brace is not None and not entry.one_line and entry.last > entry.brace + 1

    def _above(self, piece: Piece, indent: int, is_first: bool, apart: bool) -> None:
        """Comments and blank lines before a statement; a blank line that was there stays, and one is made where it is called for."""
        blanks = [comment.blank for comment in piece.leading] + [piece.blank]
        blanks[0] = (blanks[0] or apart) and not is_first
        for blank, text in zip(blanks, [*(c.text for c in piece.leading), None], strict=True):
            if blank:
                self.lines.append("")
            if text is not None:
                self.lines.append(" " * indent + text)

    def _behind(self, piece: Piece) -> None:
        if piece.trailing is not None:
            self.lines[-1] += f"  {piece.trailing.text}"

    def _write(self, entry: _Entry, indent: int) -> None:
        if entry.one_line:
            self.lines.append(self._short(entry, indent))
            return
        self.lines += lines(entry.run, indent, entry.width)
        if entry.brace is None:
            return
        after, closing = self.pieces[entry.brace + 1], self.pieces[entry.last]
        if after is closing and not after.comments:
            self.lines[-1] += " }"
            return
        self._behind(after)
        inside = [self._entry(s) for s in self._inside(entry.node)]
        self._entries(inside, indent + STEP, entry.node)
        self._dangling(closing, indent + STEP, bool(inside))
        self.lines.append(f"{' ' * indent}}}")

    def _dangling(self, piece: Piece, indent: int, below: bool) -> None:
        """Comments that no statement follows."""
        for number, comment in enumerate(piece.leading):
            if comment.blank and (number or below):
                self.lines.append("")
            self.lines.append(" " * indent + comment.text)
