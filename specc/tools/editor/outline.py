"""The shape of a text, half-typed or not: its sections and brackets, and every name with what it is there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["model", "block", "layer", "field", "local", "variable", "label", "call", "word", "argument", "part", "file"]
SECTIONS = ("model", "layer", "block", "weights", "adapter", "encoder", "decoder", "checks")


@dataclass(slots=True, eq=False)
class Frame:
    """What stands between a pair of brackets, or the whole file.

    kind: a section's word, `match`, `call`, `list`, `group` or `file`. name: the section's, or the path that is called.
    """

    kind: str
    name: str = ""
    start: int = 0  # of its first word
    opened: int = 0  # behind the opening bracket
    end: int = 0  # of the closing bracket, or of the text where there is none
    parent: Frame | None = None
    extends: str = ""
    statement: str | None = None  # the field whose value is being read
    argument: str | None = None  # the label of the argument being read
    position: int = 0  # how many arguments stand before it
    given: list[str] = field(default_factory=list)  # fields or labels so far

    def outwards(self) -> Iterator[Frame]:
        """The frame itself, the one around it, and so on to the file."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.parent

    def section(self, *kinds: str) -> Frame | None:
        """The innermost section around this place, of one of these kinds."""
        return next((f for f in self.outwards() if f.kind in (kinds or SECTIONS)), None)


@dataclass(frozen=True, slots=True, eq=False)
class Occurrence:
    """A name where it stands. `defines`: whether it is bound here. path: the whole dotted path that it ends or stands in.

    around: a string in the text of `use` and of `adapter ... for` is a name too, of a file.
    """

    kind: Kind
    name: str
    start: int
    end: int
    frame: Frame
    defines: bool = False
    path: str = ""
    field: str = ""  # the statement that it belongs to


@dataclass(slots=True, eq=False)
class Outline:
    """Everything found in one text, in its order."""

    text: str
    file: Frame
    frames: list[Frame] = field(default_factory=list)
    occurrences: list[Occurrence] = field(default_factory=list)

    def at(self, offset: int) -> Occurrence | None:
        """The name that an offset touches."""
        place = bisect_right(self.occurrences, offset, key=lambda o: o.start) - 1
        for found in self.occurrences[max(0, place - 1) : place + 1][::-1]:
            if found.start <= offset <= found.end:
                return found
        return None

    def sections(self, kind: str, name: str | None = None) -> list[Frame]:
        return [f for f in self.frames if f.kind == kind and name in (None, f.name)]

    def uses(self) -> list[Occurrence]:
        """The files that the text names after `use`."""
        return [o for o in self.occurrences if o.kind == "file" and o.field == "use"]
