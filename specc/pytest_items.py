"""The items of the pytest plugin: what of a spec must hold, and how each is found out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from specc.diagnostics import Diagnostic, SpecError
from specc.diagnostics.render import text
from specc.pytest_plugin import SpecFile, SpecItem, Wrong
from specc.resolve.program import read
from specc.syntax import tree
from specc.syntax.parser import parse
from specc.tools.lint.run import Examiner, strict
from specc.tools.settings import settings_for

BESIDE = ("CHK", "LNT005", "LNT006")  # errors that keep no model from being counted


def items(file: SpecFile) -> Iterator[SpecItem]:
    """A spec's items; one that cannot be parsed has only the first, which says why."""

    def item(name: str, what: str, run: Callable[[], str | None], line: int = 1) -> SpecItem:
        return SpecItem.from_parent(file, name=name, what=what, run=run, line=line - 1)

    yield item("check", "check", partial(_check, file))
    try:
        said = parse(read(file.path, shown(file.path))).items
    except SpecError:
        return
    models = [m for m in said if isinstance(m, tree.Model) and not m.parameters]
    for model in models:
        if sections := [s for s in model.body if isinstance(s, tree.Checks)]:
            yield item(f"budget[{model.name}]", "budget", partial(_budget, file, model.name), sections[0].span.line)
    if parity_wanted(file.config):
        for subject in [*models, *(a for a in said if isinstance(a, tree.Adapter))]:
            yield item(f"parity[{subject.name}]", "parity", partial(_parity, file, subject.name), subject.span.line)
    if lock_of(file.path, file.config.rootpath) is not None:
        yield item("lock", "lock", partial(_lock, file))


# ---- check and budget


@dataclass(slots=True)
class Found:
    """A file's findings: those about its `checks`, by model, and the others. blocked: nothing could be counted."""

    rest: list[Diagnostic]
    checks: dict[str, list[Diagnostic]]
    blocked: bool = False


def examine(path: Path) -> Found:
    settings = settings_for(path)
    (one,) = Examiner(settings_for).examine([Path(shown(path))])
    found = Found([], {}, any(d.severity == "error" and not d.code.startswith(BESIDE) for d in one.found))
    try:
        file = parse(one.source) if one.source is not None else None
    except SpecError:
        file = None
    models = [m for m in (file.items if file else ()) if isinstance(m, tree.Model)]
    sections = [(m.name, s.span) for m in models for s in m.body if isinstance(s, tree.Checks)]
    for diagnostic in one.found:
        span, name = diagnostic.span, None
        if span is not None and span.source is one.source:
            name = next((name for name, section in sections if section.start <= span.start < section.end), None)
        (found.rest if name is None else found.checks.setdefault(name, [])).append(strict(diagnostic, settings))
    return found


def _check(file: SpecFile) -> str | None:
    return _weigh(file.examined().rest)


def _budget(file: SpecFile, name: str) -> str | None:
    found = file.examined()
    if found.blocked and name not in found.checks:
        pytest.skip("the spec has errors, so that nothing can be counted")
    return _weigh(found.checks.get(name, []))


def _weigh(found: list[Diagnostic]) -> str | None:
    """Raises Wrong where one is an error. -> the warnings, to be shown on request."""
    if any(d.severity == "error" for d in found):
        raise Wrong(text(found))
    return text(found) if found else None


# ---- parity


def parity_wanted(config: pytest.Config) -> bool:
    """Whether the option asks for it, or a marker expression that names it."""
    words = str(config.getoption("markexpr", "") or "").split()
    place = next((n for n, word in enumerate(words) if word.strip("()") == "specc_parity"), None)
    return bool(config.getoption("specc_parity")) or (place is not None and (place == 0 or words[place - 1].strip("()") != "not"))


def _parity(file: SpecFile, name: str) -> None:
    for needed in ("torch", "onnxruntime"):
        if find_spec(needed) is None:
            pytest.skip(f"parity needs {needed}: pip install 'specc-compiler[torch,run]'")
    from specc.faces.commands.verify_command import as_text
    from specc.faces.loading import one_subject
    from specc.resolve.adapter import ResolvedAdapter
    from specc.tools.adapters.verify import verify_adapter
    from specc.tools.verify.run import verify_miniature

    found = one_subject(shown(file.path), name)
    proof = verify_adapter(found.adapter) if isinstance(found, ResolvedAdapter) else verify_miniature(found.model)
    if not proof.ok:
        raise Wrong(as_text(proof))


# ---- lock


def lock_of(path: Path, root: Path) -> Path | None:
    """The specc.lock at or above a spec, within the root."""
    folders = [folder for folder in path.parents if folder.is_relative_to(root)] or [path.parent]
    return next((folder / "specc.lock" for folder in folders if (folder / "specc.lock").is_file()), None)


def _lock(file: SpecFile) -> None:
    from specc.tools.lock_check import group

    name = shown(file.path)
    if found := group([name], [Path(name)]).found:
        raise Wrong(text(found))


def shown(path: Path) -> str:
    """A path as a person in this folder writes it."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
