"""The files behind a spec: the file itself, what it uses, and the prelude."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from specc.diagnostics.finding import Report, did_you_mean, fail
from specc.resources import SPECS
from specc.source import Source, Span
from specc.syntax import tree
from specc.syntax.limits import decode
from specc.syntax.parser import parse

MOST_FILES = 1_000
MOST_BYTES = 1 << 20


@dataclass(slots=True)
class Program:
    """Every model, block and weights map that a file may name. `own` holds the models of the file itself, in order."""

    models: dict[str, tree.Model] = field(default_factory=dict)
    blocks: dict[str, tree.Block] = field(default_factory=dict)
    weights: dict[str, tree.Weights] = field(default_factory=dict)
    adapters: dict[str, tree.Adapter] = field(default_factory=dict)
    own: list[str] = field(default_factory=list)
    prelude_blocks: frozenset[str] = frozenset()


def read(path: Path, name: str | None = None, span: Span | None = None) -> Source:
    """A spec file's text. Raises SpecError where it cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise fail("SYS001", f"cannot read {name or path}: {error.strerror or error}", span) from None
    return decode(name or str(path), content)


def load(path: Path) -> Program:
    """The program that a spec file stands for. Raises SpecError with every finding of the files that parse."""
    return load_source(read(path), path)


def load_source(source: Source, path: Path) -> Program:
    """The same from text at hand; `use` is relative to the folder of `path`."""
    program, report = Program(), Report()
    prelude = SPECS / "std" / "blocks.specc"
    _add(parse(read(prelude, "std/blocks.specc")), program, report, prelude=True)
    program.prelude_blocks = frozenset(program.blocks)
    file = parse(source)
    _uses(file, path, program, report, [path.resolve()], {path.resolve()})
    _add(file, program, report)
    program.own = [item.name for item in file.items if isinstance(item, tree.Model)]
    report.raise_errors()
    return program


def _uses(file: tree.File, path: Path, program: Program, report: Report, chain: list[Path], seen: set[Path]) -> None:
    for item in file.items:
        if not isinstance(item, tree.Use):
            continue
        target = (path.parent / item.path).resolve()
        if target in chain:
            circle = " -> ".join(p.name for p in [*chain[chain.index(target) :], target])
            report.error("NAM009", f"these files use each other in a circle: {circle}", item.span)
            continue
        if target in seen:
            continue
        if len(seen) >= MOST_FILES or len(chain) > 100:
            raise fail("LIM014", f"a spec may use {MOST_FILES} files, 100 deep", item.span)
        seen.add(target)
        used = parse(read(target, str(path.parent / item.path), item.span))
        _uses(used, target, program, report, [*chain, target], seen)
        _add(used, program, report)


def _add(file: tree.File, program: Program, report: Report, prelude: bool = False) -> None:
    tables = {tree.Model: program.models, tree.Block: program.blocks, tree.Weights: program.weights, tree.Adapter: program.adapters}
    for item in file.items:
        table = tables.get(type(item))
        if table is None:
            continue
        first = table.get(item.name)
        if first is not None and not (isinstance(item, tree.Block) and item.name in program.prelude_blocks):
            report.error("NAM005", f"`{item.name}` is given twice", item.span, notes=((first.span, "first here"),))
        table[item.name] = item


def find(name: str, program: Program) -> tree.Model:
    """A model by its name. Raises SpecError where there is none."""
    if name not in program.models:
        raise fail("NAM008", f"no model is called `{name}`", None, did_you_mean(name, program.own))
    return program.models[name]
