"""The files that an editor works on: buffers that are open and not yet saved, over what lies on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from specc.diagnostics.finding import SpecError
from specc.resolve import program
from specc.resources import SPECS
from specc.source import Source, Span
from specc.tools.editor.outline import Outline
from specc.tools.editor.scan import outline

PRELUDE = SPECS / "std" / "blocks.specc"
MOST_FILES = 2_000  # of a workspace that are searched for uses of a name


@dataclass(slots=True)
class Project:
    """`buffers` holds the text of every open file; `folders` are those that the editor has open."""

    folders: list[Path] = field(default_factory=list)
    buffers: dict[Path, str] = field(default_factory=dict)

    def read(self, path: Path, name: str | None = None, span: Span | None = None) -> Source:
        """A file's text as it stands in the editor, else on disk. Raises SpecError where it cannot be read."""
        text = self.buffers.get(path) if path in self.buffers else self.buffers.get(path.resolve())
        return program.read(path, name, span) if text is None else Source(name or str(path), text)

    def outline(self, path: Path) -> Outline:
        """The outline of a file; empty where it cannot be read."""
        try:
            return _outline(self.read(path).text)
        except SpecError:
            return _outline("")

    def used(self, path: Path) -> list[Path]:
        """The file itself, every file that it uses, directly or not, and the prelude."""
        found: dict[Path, None] = {}
        waiting = [path.resolve()]
        while waiting and len(found) < MOST_FILES:
            here = waiting.pop(0)
            if here not in found:
                found[here] = None
                waiting += [(here.parent / use.name).resolve() for use in self.outline(here).uses()]
        return [*found, *([PRELUDE] if PRELUDE not in found else [])]

    def users(self, path: Path) -> list[Path]:
        """The file itself, and every file of the workspace that uses it, directly or not."""
        path = path.resolve()
        return [path, *(other for other in self.files() if other != path and path in self.used(other)[:-1])]

    def files(self) -> list[Path]:
        """Every spec of the workspace: open ones, those beside them, and those that its folders hold."""
        found = dict.fromkeys(path.resolve() for path in self.buffers)
        beside = dict.fromkeys(path.parent for path in found)
        for specs in (*(folder.glob("*.specc") for folder in beside), *map(_specs, self.folders)):
            for path in specs:
                if len(found) >= MOST_FILES:
                    return list(found)
                found[path.resolve()] = None
        return list(found)


@lru_cache(maxsize=256)
def _outline(text: str) -> Outline:
    return outline(text)


def _specs(folder: Path) -> Iterator[Path]:
    for root, folders, files in folder.walk() if hasattr(folder, "walk") else _walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "node_modules")
        yield from (root / name for name in sorted(files) if name.endswith(".specc"))


def _walk(folder: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """`Path.walk`, which Python 3.11 does not have yet."""
    import os

    for root, folders, files in os.walk(folder):
        yield Path(root), folders, files
