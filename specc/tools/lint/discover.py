"""Which files are meant: those that are named, and what folders hold, less what the settings leave out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from specc.diagnostics.finding import fail
from specc.tools.settings import Settings

SKIPPED = frozenset({"node_modules", "__pycache__"})  # and every folder whose name begins with a dot


def discover(names: list[str], settings: Callable[[Path], Settings], always: bool = False) -> list[Path]:
    """The spec files, each once. A file that is named is checked even where it is excluded, unless `always`.

    Raises SpecError where a folder holds none, or a setting is wrong.
    """
    found: dict[Path, Path] = {}
    for name in names:
        path = Path(name)
        if not path.is_dir():
            if not (always and settings(path).excludes(path)):
                found.setdefault(path.resolve(), path)
            continue
        inside = list(_inside(path, settings))
        if not inside:
            raise fail("SYS002", f"there is no .specc file in {name}")
        for file in inside:
            found.setdefault(file.resolve(), file)
    return list(found.values())


def _inside(folder: Path, settings: Callable[[Path], Settings]) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        here = Path(root)
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in SKIPPED and not settings(here).excludes(here / f))
        yield from (path for name in sorted(files) if name.endswith(".specc") and not settings(path := here / name).excludes(path))
