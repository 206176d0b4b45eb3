"""Giving a name another one, everywhere, and only where the models stay what they were."""

from __future__ import annotations

import re
from pathlib import Path

from specc.diagnostics.edits import Edit, applied
from specc.diagnostics.finding import SpecError
from specc.ir.fingerprint import fingerprint
from specc.resolve.parts import KNOWN
from specc.resources import SPECS
from specc.syntax import tables
from specc.tools.editor.analysis import analyse
from specc.tools.editor.names import Names, Place
from specc.tools.editor.outline import Occurrence
from specc.tools.editor.project import Project

KINDS = ("model", "block", "layer", "field", "local", "variable", "word", "call", "part")


def occurrences(project: Project, path: Path, found: Occurrence) -> list[Place]:
    """Every place of the workspace where a name stands for the same thing, its bindings included."""
    origins = Names(project, path).origins(found)
    if not origins:
        return []
    files = {other for origin in origins for other in project.users(origin.path)} | set(project.used(path))
    places: set[Place] = set()
    for file in sorted(files):
        names = Names(project, file)
        for other in project.outline(file).occurrences:
            if other.name == found.name and other.kind in (*KINDS, "label") and not origins.isdisjoint(names.origins(other)):
                places.add(Place(file, other.start, other.end))
    return sorted(places, key=lambda p: (str(p.path), p.start))


def renamable(project: Project, path: Path, offset: int) -> Occurrence | None:
    """The name at an offset, if it is the user's own to choose."""
    found = project.outline(path).at(offset)
    names = Names(project, path)
    if found is None or found.kind not in KINDS or _is_given(found, names):
        return None
    origins = names.origins(found)
    return found if origins and not any(origin.path.is_relative_to(SPECS / "std") for origin in origins) else None


def _is_given(found: Occurrence, names: Names) -> bool:
    """Whether the language gives this field its name."""
    return found.kind in ("field", "call", "part", "word") and found.name in KNOWN and not names.is_local(found)


class Refused(Exception):
    """A name cannot be changed, or not to that; the message says why."""


def rename(project: Project, path: Path, offset: int, name: str) -> dict[Path, list[Place]]:
    """The places to write `name` at. Raises Refused where it is no name, or where a model would not stay the same."""
    found = renamable(project, path, offset)
    if found is None:
        raise Refused("this is no name that can be changed")
    if not re.fullmatch(tables.load().patterns["NAME"], name):
        raise Refused(f"`{name}` is no name: that is a letter or `_`, then letters, digits and `_`, and no word of the language")
    edits: dict[Path, list[Place]] = {}
    for place in occurrences(project, path, found):
        edits.setdefault(place.path, []).append(place)
    _check(project, edits, found.name, name)
    return edits


def _check(project: Project, edits: dict[Path, list[Place]], old: str, name: str) -> None:
    """Reads every file again that the change reaches: the same models, the same findings."""
    files = sorted({user for path in edits for user in project.users(path)})
    after = Project(project.folders, dict(project.buffers))
    for path, places in edits.items():
        source = project.read(path)
        after.buffers[path] = applied(source.text, [Edit(source, p.start, p.end, name) for p in places])[0]
    for path in files:
        if _meaning(project, path) != _meaning(after, path):
            raise Refused(f"with `{name}` in place of `{old}`, {path.name} would not mean the same; the name may be in use already")


def _meaning(project: Project, path: Path) -> tuple[list[str], list[str]]:
    """The fingerprints of a file's models, in order, and the codes of its findings."""
    try:
        found = analyse(project, path)
    except SpecError as error:
        return [], [d.code for d in error.diagnostics]
    return [fingerprint(one.model) for one in found.models.values()], sorted(d.code for d in found.found)
