"""The files behind a spec: the file itself, what it uses, and the prelude."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

from specc.diagnostics.finding import Report, fail
from specc.resources import SPECS
from specc.source import Source, Span
from specc.syntax import tree
from specc.syntax.limits import decode
from specc.syntax.parser import parse

MOST_FILES = 1_000
MOST_BYTES = 1 << 20


@dataclass(slots=True)
class Program:
    """Every model and block that a file may name. `own` holds the models of the file itself, in order.

    `adapters` are those of the file itself; `bases` the programs of the files that they lie over, by adapter.
    """

    models: dict[str, tree.Model] = field(default_factory=dict)
    blocks: dict[str, tree.Block] = field(default_factory=dict)
    own: list[str] = field(default_factory=list)
    adapters: dict[str, tree.Adapter] = field(default_factory=dict)
    bases: dict[str, Program] = field(default_factory=dict)
    targets: dict[Path, Program] = field(default_factory=dict)  # the same by file, each read once
    prelude_blocks: dict[str, tree.Block] = field(default_factory=dict)


Reader = Callable[[Path, str | None, Span | None], Source]


def read(path: Path, name: str | None = None, span: Span | None = None) -> Source:
    """A spec file's text. Raises SpecError where it cannot be read."""
    try:
        if span is not None and not path.is_file() and path.exists():  # a pipe would be waited for, a device read
            raise fail("SYS001", f"cannot read {name or path}: not a file", span)
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise fail("SYS001", f"cannot read {name or path}: {reason}", span) from None
    return decode(name or str(path), content)


def load(path: Path) -> Program:
    """The program that a spec file stands for. Raises SpecError with every finding of the files that parse."""
    return load_source(read(path), path)


def load_source(source: Source, path: Path, reader: Reader = read, adapters: bool = True) -> Program:
    """The same from text at hand; `use` is relative to the folder of `path`. `reader` gets the texts of used files.

    adapters: whether those of the file are meant too, and not only its models.
    """
    program, report = Program(), Report()
    _add(_prelude(), program, report)
    program.prelude_blocks = dict(program.blocks)
    file = parse(source)
    _uses(file, path, program, report, [path.resolve()], {path.resolve()}, reader)
    _add(file, program, report)
    for item in file.items:  # what can be written and would be passed over
        if isinstance(item, tree.Adapter):
            if adapters:
                _adapter(item, path, program, report, reader)
        elif isinstance(item, tree.Weights):
            report.error(
                "NAM006", f"`weights {item.name}` stands outside a model", item.span, "it belongs between the braces of `model NAME { }`"
            )
    program.own = [item.name for item in file.items if isinstance(item, tree.Model)]
    report.raise_errors()
    return program


@cache
def _prelude() -> tree.File:
    """The blocks that every file may name, read once."""
    return parse(read(SPECS / "std" / "blocks.specc", "std/blocks.specc"))


def _adapter(item: tree.Adapter, path: Path, program: Program, report: Report, reader: Reader) -> None:
    """An adapter of the file, with the file that it lies over."""
    first = program.adapters.get(item.name) or program.models.get(item.name)
    if first is not None:
        report.error("NAM005", f"`{item.name}` is given twice", item.name_span, notes=((first.span, "first here"),))
        return
    program.adapters[item.name] = item
    if not item.named:
        target = (path.parent / item.target).resolve()
        known = program.targets.get(target)
        if known is None:
            if len(program.targets) >= MOST_FILES:
                raise fail("LIM014", f"a spec may use {MOST_FILES} files", item.target_span)
            text = reader(target, str(path.parent / item.target), item.target_span)
            known = program.targets[target] = load_source(text, target, reader, adapters=False)
        program.bases[item.name] = known


@lru_cache(maxsize=128)
def _parsed(name: str, text: str) -> tree.File:
    """The tree of a used file, read once for all files that use it. Raises SpecError."""
    return parse(Source(name, text))


def _uses(file: tree.File, path: Path, program: Program, report: Report, chain: list[Path], seen: set[Path], reader: Reader) -> None:
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
        text = reader(target, str(path.parent / item.path), item.span)
        used = _parsed(text.name, text.text)
        _uses(used, target, program, report, [*chain, target], seen, reader)
        _add(used, program, report)


def _add(file: tree.File, program: Program, report: Report) -> None:
    tables: dict[type, dict] = {tree.Model: program.models, tree.Block: program.blocks}
    for item in file.items:
        table = tables.get(type(item))
        if table is None:
            continue
        first = table.get(item.name)
        if first is not None and not (isinstance(item, tree.Block) and item.name in program.prelude_blocks):
            report.error("NAM005", f"`{item.name}` is given twice", item.span, notes=((first.span, "first here"),))
        table[item.name] = item
