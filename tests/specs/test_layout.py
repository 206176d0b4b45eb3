"""The specs that the project ships have the layout that it gives to others."""

from __future__ import annotations

from specc.resolve.program import read
from specc.resources import SPECS
from specc.syntax.format import format_text


def test_every_spec_is_in_the_canonical_layout() -> None:
    crooked = [path for path in sorted(SPECS.rglob("*.specc")) if format_text(source := read(path)) != source.text]
    assert not crooked, f"run `specc fmt specs`: {', '.join(path.name for path in crooked)}"
