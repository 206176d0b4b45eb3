"""Running a check again whenever a spec or a setting changes, by looking at the files twice a second."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PAUSE = 0.5
SETTINGS = ("specc.toml", "pyproject.toml")


def watch(check: Callable[[], int], names: list[str], config: str | None = None) -> int:
    """Checks until it is interrupted. What a run raises is reported, and the next change looked for."""
    from specc.diagnostics import SpecError
    from specc.diagnostics.render import text
    from specc.tools.settings import forget

    while True:
        seen = state(names, config)
        if sys.stdout.isatty():
            print("\033[2J\033[H", end="")
        forget()
        try:
            check()
        except SpecError as error:
            print(text(error.diagnostics), file=sys.stderr)
        print(f"-- watching {', '.join(names)}; Ctrl-C ends it", flush=True)
        while state(names, config) == seen:
            time.sleep(PAUSE)


def state(names: list[str], config: str | None = None) -> dict[str, tuple[int, int]]:
    """When each file was last written, and its size; the files beside a spec count too, for it may use them."""
    found = {}
    for path in _files([Path(n) for n in names], config):
        try:
            stat = path.stat()
        except OSError:
            continue
        found[str(path)] = (stat.st_mtime_ns, stat.st_size)
    return found


def _files(paths: list[Path], config: str | None) -> Iterator[Path]:
    if config is not None:
        yield Path(config)
    for path in paths:
        folder = path if path.is_dir() else path.parent
        for root, folders, files in os.walk(folder):
            folders[:] = [f for f in folders if not f.startswith(".") and f != "node_modules"] if path.is_dir() else []
            yield from (Path(root) / f for f in files if f.endswith(".specc") or f in SETTINGS)
        yield from (above / name for above in folder.resolve().parents for name in SETTINGS)
