"""How lists of names and shapes stand in messages."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 10


def listed(names: Sequence[str]) -> str:
    """At most ten of the names, and how many more there are."""
    rest = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def sizes(shape: Sequence[int]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
