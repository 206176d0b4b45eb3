"""Pieces of SVG: elements as text, and how wide a text is, near enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape, quoteattr

NARROW, WIDE = set("iljtfr.,:;'|![]() "), set("mwMWABCDGHKNOQRUVXY@%×→")
BOLD = 1.09


def element(name: str, content: str = "", **attributes: Any) -> str:
    """One element. An attribute's trailing underscore goes, others become hyphens; numbers are rounded to a tenth of a pixel."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(_number(value))}" for key, value in attributes.items() if value is not None
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def text(x: float, y: float, content: str, class_: str = "", anchor: str | None = None) -> str:
    return element("text", escape(content), x=x, y=y, class_=class_ or None, text_anchor=anchor)


def titled(content: str, title: str) -> str:
    """A group that shows a text when it is pointed at."""
    return element("g", element("title", escape(title)) + content)


def width(content: str, size: float) -> float:
    """About how wide a text is, in pixels."""
    return size * sum(0.34 if c in NARROW else 0.82 if c in WIDE else 0.6 for c in content)


def letters(content: str, size: float) -> float:
    """The same of a text in letters that are all as wide, set a little closer."""
    return 0.575 * size * len(content)


def wrapped(content: str, room: float, size: float, most: int) -> list[str]:
    """A text of equally wide letters in lines that fit; what goes past the last one ends in dots."""
    lines: list[str] = []
    for word in content.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and letters(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1].rstrip(',')} ..."]
    return [_cut(line, room, size) for line in lines]


def _cut(line: str, room: float, size: float) -> str:
    while line and letters(line, size) > room:
        line = line.removesuffix("...")[:-1].rstrip() + "..." if len(line) > 4 else ""
    return line


def _number(value: Any) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


@dataclass(slots=True)
class Drawing:
    """Elements over an area that begins at 0, 0."""

    width: float = 0
    height: float = 0
    parts: list[str] = field(default_factory=list)

    def add(self, *parts: str) -> None:
        self.parts += parts

    def put(self, other: Drawing, x: float, y: float) -> None:
        """Another drawing inside this one, which grows to hold it."""
        self.parts.append(element("g", "".join(other.parts), transform=f"translate({_number(float(x))} {_number(float(y))})"))
        self.width, self.height = max(self.width, x + other.width), max(self.height, y + other.height)
