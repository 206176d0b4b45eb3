"""The two sides of a comparison: files, or `REV:path` in git, with the models that they hold matched by name."""

from __future__ import annotations

import posixpath
import subprocess
from dataclasses import dataclass
from pathlib import Path

from specc.diagnostics.finding import Report, did_you_mean, fail
from specc.ir.adapter import Adapter
from specc.ir.fingerprint import fingerprint
from specc.resolve.adapter import resolve_adapter
from specc.resolve.evaluate import evaluate
from specc.resolve.fields import collect
from specc.resolve.model import Resolved, resolve
from specc.resolve.program import MOST_BYTES, Program, load, load_source, read
from specc.resolve.scope import Scope
from specc.resolve.values import Record
from specc.source import Source, Span
from specc.syntax.limits import decode
from specc.tools.diff.models import compare
from specc.tools.diff.reason import Difference, Level


@dataclass(slots=True)
class Side:
    """One side as it was named, and what it holds."""

    name: str
    program: Program

    def model(self, name: str, sample: Record | None = None) -> Resolved:
        return resolve(self.program.models[name], self.program, Report(), sample)

    def adapter(self, name: str) -> Adapter:
        return resolve_adapter(self.program.adapters[name], self.program, Report()).adapter

    def sample(self, name: str) -> Record | None:
        """The config that a family is looked at with; None for a model that stands alone. Raises SpecError."""
        model = self.program.models[name]
        if not model.parameters:
            return None
        report = Report()
        fields = collect(model, self.program, report).fields
        found = evaluate(fields["sample"].value, Scope(fields, report, evaluate)) if "sample" in fields else None
        if not isinstance(found, Record):
            raise fail("VAL011", f"the family `{name}` has no `sample` config to be compared with", model.name_span)
        return found


def open_file(path: Path) -> Side:
    """A file as it lies there. Raises SpecError."""
    return Side(str(path), load(path))


def open_side(argument: str) -> Side:
    """A file, or a path in a revision: `HEAD~1:specs/a.specc`, `main:./a.specc`. Raises SpecError."""
    revision, colon, path = argument.partition(":")
    if not colon and not Path(argument).exists():
        raise fail(
            "SYS001", f"cannot read {argument}: no such file", None, f"a file in git is named REV:path, as in {argument}:specs/a.specc"
        )
    if not colon or Path(argument).exists():
        return open_file(Path(argument))
    if revision.startswith("-"):
        raise fail("SYS001", f"cannot read {argument}: `{revision}` is no revision")
    top, prefix = _git("rev-parse", "--show-toplevel", "--show-prefix", what=argument).decode().split("\n")[:2]
    inside = posixpath.normpath(prefix + path if path.startswith(("./", "../")) else path)

    def reader(target: Path, name: str, span: Span | None = None) -> Source:
        try:
            relative = target.relative_to(Path(top).resolve()).as_posix()
        except ValueError:  # outside the repository: as it is now
            return read(target, name, span)
        shown = f"{revision}:{relative}"
        content = _git("show", f"{revision}:{relative}", what=shown, span=span)
        if content.startswith(b"tree "):
            raise fail("SYS001", f"cannot read {shown}: a folder", span)
        return decode(shown, content[: MOST_BYTES + 1])

    file = Path(top).resolve() / inside
    return Side(argument, load_source(reader(file, argument), file, reader))


def _git(*arguments: str, what: str, span: Span | None = None) -> bytes:
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, timeout=60, check=False)
    except FileNotFoundError:
        raise fail("SYS001", f"cannot read {what}: git is not installed", span) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["git failed"]
        reason = said[0].removeprefix("fatal: ")
        hint = next((line.removeprefix("hint: ") for line in said[1:] if line.startswith("hint: ")), None)
        raise fail("SYS001", f"cannot read {what}: {reason}", span, hint)
    return done.stdout


def compare_sides(old: Side, new: Side, only: str | None = None) -> list[Difference]:
    """Every model of either side: by name, one that is left over on each side with the other. Raises SpecError."""
    olds, news = list(old.program.own), list(new.program.own)
    laid = _adapters(old, new, only)
    if laid and (only is not None or not (olds or news)):
        return laid
    for side, names in ((old, olds), (new, news)):
        if not names:
            raise fail("SYS003", f"{side.name} holds no model")
    if only is not None:
        if only not in (*olds, *news):
            raise fail("SYS003", f"neither side holds a model `{only}`", None, did_you_mean(only, {*olds, *news}))
        olds, news = [n for n in olds if n == only], [n for n in news if n == only]
    pairs = {name: name for name in news if name in olds}
    gone, come = [n for n in olds if n not in pairs], [n for n in news if n not in pairs]
    pairs |= _renamed(old, new, gone, come)
    found = [_pair(old, new, pairs[name], name) for name in news if name in pairs]
    found += [Difference(None, name) for name in news if name not in pairs]
    found += laid
    return found + [Difference(name, None, Level.BREAKING) for name in gone if name not in pairs.values()]


def _adapters(old: Side, new: Side, only: str | None) -> list[Difference]:
    """Every adapter of either side, by name; one alone on each side with the other."""
    from specc.tools.adapters.compare import compare as compare_adapters

    olds, news = ([name for name in side.program.adapters if only in (None, name)] for side in (old, new))
    pairs = {name: name for name in news if name in olds}
    if len(olds) == len(news) == 1:
        pairs = {news[0]: olds[0]}
    found = [compare_adapters(old.adapter(was), new.adapter(name)) for name, was in pairs.items()]
    found += [Difference(None, name) for name in news if name not in pairs]
    return found + [Difference(name, None, Level.BREAKING) for name in olds if name not in pairs.values()]


def _renamed(old: Side, new: Side, gone: list[str], come: list[str]) -> dict[str, str]:
    """New name -> old name of models that are one under two names."""
    if len(gone) == len(come) == 1:
        return {come[0]: gone[0]}
    if not gone or not come:
        return {}
    prints = {fingerprint(old.model(name, old.sample(name)).model): name for name in gone}
    found = {name: prints.pop(fingerprint(new.model(name, new.sample(name)).model), None) for name in come}
    return {name: was for name, was in found.items() if was is not None}


def _pair(old: Side, new: Side, was: str, name: str) -> Difference:
    sample = old.sample(was)
    other = sample if new.program.models[name].parameters else None
    return compare(old.model(was, sample), new.model(name, other or new.sample(name)))
