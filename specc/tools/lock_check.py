"""Specs held against specc.lock: what has drifted, what is not locked, what is gone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from specc.diagnostics.finding import Diagnostic, SpecError
from specc.diagnostics.formats import Group
from specc.source import Span
from specc.tools.lock import NAME, Entry, Lock, entries, folder_for, read

SHOWN = 3  # facts that a finding quotes
AGAIN = "if this is meant, run `specc lock` and commit specc.lock"


def held_against(given: list[Path], files: list[Path]) -> tuple[list[Diagnostic], int]:
    """What is found in these files, and how many models they hold. `given`: the paths that led to them."""
    found: list[Diagnostic] = []
    resolved: dict[Path, dict[str, tuple[Span, Entry]]] = {}
    for file in files:
        try:
            resolved[file] = entries(file)
        except SpecError as error:
            found += error.diagnostics
    count = sum(map(len, resolved.values()))
    folder = folder_for(given)
    try:
        lock = read(folder)
    except SpecError as error:
        return [*found, *error.diagnostics], count
    if lock is None:
        return [*found, Diagnostic("LCK001", f"there is no {NAME} in {folder} or above", None, "`specc lock` writes one")], count
    return found + _drift(lock, resolved), count


def group(given: list[str], files: list[Path]) -> Group:
    """The findings about the lock alone, for a check that reports everything else itself."""
    found, _ = held_against([Path(name) for name in given], files)
    return Group(NAME, tuple(d for d in found if d.code.startswith("LCK")))


def _drift(lock: Lock, files: dict[Path, dict[str, tuple[Span, Entry]]]) -> list[Diagnostic]:
    """What is not as the lock says. `files`: the models of every file that is looked at."""
    found = []
    for path, own in files.items():
        key = lock.key(path)
        known = lock.specs.get(key, {})
        for name, (span, now) in own.items():
            if name not in known:
                found.append(Diagnostic("LCK002", f"`{name}` of {key} is not in {NAME}", span, AGAIN))
            else:
                found += [Diagnostic(code, message, span, AGAIN) for code, message in _drifted(name, known[name], now)]
        gone = known.keys() - own.keys()
        found += [
            Diagnostic("LCK003", f"{NAME} holds a model `{name}` of {key}, and the file has none", None, AGAIN) for name in sorted(gone)
        ]
    missing = [key for key in sorted(lock.specs) if not (lock.folder / key).is_file()]
    return found + [Diagnostic("LCK003", f"{NAME} holds {key}, and the file is gone", None, AGAIN) for key in missing]


def _drifted(name: str, old: Entry, new: Entry) -> Iterable[tuple[str, str]]:
    if old["architecture"] != new["architecture"]:
        yield "LCK004", f"`{name}` computes something else than what was locked: {_changed(old['facts'], new['facts'])}"
    if old["parameters"] != new["parameters"]:
        yield (
            "LCK005",
            f"the state dict of `{name}` is another one: {old['parameters']:,} parameters were locked, and it has {new['parameters']:,}",
        )
    elif old["layout"] != new["layout"]:
        yield "LCK005", f"the state dict of `{name}` is another one: as many parameters in tensors of other names or shapes"
    if old["weights"] != new["weights"]:
        names = sorted(n for n in {*old["weights"], *new["weights"]} if old["weights"].get(n) != new["weights"].get(n))
        yield "LCK006", f"the published layout of `{name}` is another one: {', '.join(f'weights {n}' for n in names)}"


def _changed(old: dict[str, str], new: dict[str, str]) -> str:
    said = []
    for path in [*old, *(p for p in new if p not in old)]:
        was, now = old.get(path), new.get(path)
        if was != now:
            said.append(
                f"{path} is new: {now}" if was is None else f"{path} is gone: {was}" if now is None else f"{path} was {was} and is {now}"
            )
    more = f"; and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
    return ("; ".join(said[:SHOWN]) or "in a way that no fact shows") + more
