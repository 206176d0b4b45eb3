"""Findings in the forms that programs read. One module per form, each with `render(groups, base) -> str`.

A form is given the findings file by file, so that one that lists what was checked can name the files without any. Paths are
written relative to `base`, the root of the repository, with forward slashes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from specc.diagnostics.finding import Diagnostic

FORMATS = ("text", "json", "sarif", "junit", "github", "gitlab")
ROOTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")


@dataclass(frozen=True, slots=True)
class Group:
    """A checked file by the name the user gave it, and what was found."""

    name: str
    found: tuple[Diagnostic, ...]


def render(format: str, groups: Iterable[Group], base: Path | None = None) -> str:
    """The findings in one of FORMATS."""
    groups = tuple(groups)
    if format not in FORMATS[2:]:
        from specc.diagnostics import render as plain

        found = flat(groups)
        return plain.as_json(found) if format == "json" else plain.text(found)
    return import_module(f"specc.diagnostics.formats.{format}").render(groups, base or root())


def flat(groups: Sequence[Group]) -> list[Diagnostic]:
    """Every finding once."""
    return list(dict.fromkeys(found for group in groups for found in group.found))


def root() -> Path:
    """What paths are relative to: the repository, where a CI service says where it lies, else the current folder."""
    here = Path.cwd()
    return next((Path(os.environ[name]) for name in ROOTS if os.environ.get(name) and here.is_relative_to(os.environ[name])), here)


def relative(name: str, base: Path) -> str:
    """A path as a CI service knows it."""
    path = os.path.normpath(os.path.join(Path.cwd(), name))
    inside = path == str(base) or path.startswith(f"{base}{os.sep}")
    return Path(os.path.relpath(path, base) if inside else path).as_posix()


def place_of(found: Diagnostic, group: Group, base: Path) -> tuple[str, int, int, int, int]:
    """Path, first line and column, last line and column (behind the last character); line 1 where no text is to blame."""
    if found.span is None:
        return relative(group.name, base), 1, 1, 1, 1
    source = found.span.source
    return relative(source.name, base), *source.position(found.span.start), *source.position(found.span.end)


def keys(groups: Sequence[Group], base: Path) -> list[tuple[Diagnostic, Group, str]]:
    """Every finding with a key that stays the same when lines above it come and go: of its code, path, words and line's text."""
    from hashlib import sha256

    seen: dict[tuple[str, ...], int] = {}
    result, known = [], set()
    for group in groups:
        for found in group.found:
            if found in known:
                continue
            known.add(found)
            line = found.span.source.line(found.span.line).strip() if found.span is not None else ""
            what = (found.code, place_of(found, group, base)[0], found.message, line)
            seen[what] = seen.get(what, 0) + 1
            result.append((found, group, sha256("\0".join([*what, str(seen[what])]).encode("utf-8", "replace")).hexdigest()))
    return result
