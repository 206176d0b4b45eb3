"""`specc lock [SPEC...]`: write specc.lock, or hold the specs against it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "specs", nargs="*", metavar="SPEC", help="spec files or folders; without any, what the lock holds, else the whole project"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where a spec is not as it was locked")


def run(options: argparse.Namespace) -> int:
    from specc.tools import lock

    folder = lock.folder_for([Path(name) for name in options.specs] or [Path.cwd()])
    old = _old(folder)
    given = [Path(name) for name in options.specs] or [_shown(folder / root) for root in (old.roots if old else [])] or [_shown(folder)]
    return _check(given, options.format) if options.check else _write(old, folder, given, options.format)


def _old(folder: Path):
    """The lock that is there; one that cannot be used is written over."""
    from specc.diagnostics import SpecError
    from specc.tools import lock

    try:
        return lock.read(folder)
    except SpecError:
        return None


def _shown(path: Path) -> Path:
    """A path as it is named from here."""
    here = Path.cwd()
    return path.resolve().relative_to(here) if path.resolve().is_relative_to(here) else path


def _files(given: list[Path]) -> list[Path]:
    from specc.tools.lint.discover import discover
    from specc.tools.settings import settings_for

    return discover([str(path) for path in given], settings_for)


def _write(old, folder: Path, given: list[Path], format: str) -> int:
    import json

    from specc.tools import lock
    from specc.tools.output import write_whole

    there = [path for path in given if path.exists() or not (old and _known(old, path))]
    new = lock.locked(given, _files(there) if there else [], old, folder)
    write_whole(new.path, new.text())
    before = {(key, name): e for key, models in (old.specs if old else {}).items() for name, e in models.items()}
    after = {(key, name): e for key, models in new.specs.items() for name, e in models.items()}
    counts = {
        "new": len(after.keys() - before.keys()),
        "changed": sum(before[k] != after[k] for k in before.keys() & after.keys()),
        "gone": len(before.keys() - after.keys()),
    }
    if format == "json":
        print(json.dumps({"lock": str(_shown(new.path)), "models": len(after)} | counts))
    else:
        said = ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "nothing has changed"
        print(f"{_shown(new.path)}: {_count(len(after), 'model')} of {_count(len(new.specs), 'spec')} locked ({said})")
    return 0


def _known(old, path: Path) -> bool:
    """Whether the lock holds something of a path, which may be gone."""
    key = old.key(path)
    return key in old.roots or any(old.covers([key], spec) for spec in old.specs)


def _check(given: list[Path], format: str) -> int:
    from specc.diagnostics.formats import Group, render
    from specc.tools.lock_check import held_against

    found, models = held_against(given, _files([path for path in given if path.exists()] or given))
    if found or format == "json":
        print(render(format, [Group("specc.lock", tuple(found))]), file=sys.stderr if format == "text" else sys.stdout)
    if not found and format != "json":
        print(f"{_count(models, 'model')} checked, all as locked")
    return 1 if found else 0


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
