"""Checking one spec file: every model in it resolved, its checks evaluated; a family by its sample config."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from specc.diagnostics.finding import Report, SpecError
from specc.resolve.adapter import resolve_adapter
from specc.resolve.evaluate import evaluate
from specc.resolve.fields import collect
from specc.resolve.model import Resolved, resolve
from specc.resolve.program import Program, Reader, load_source, read
from specc.resolve.scope import Scope
from specc.resolve.values import Record
from specc.resolve.work import Work
from specc.source import Source
from specc.syntax import tree
from specc.tools.facts import check_facts
from specc.tools.other_model import Finder, finder

Look = Callable[[Resolved, Report], None]


def check_file(path: Path, look: Look | None = None, source: Source | None = None, reader: Reader = read) -> tuple[int, int, Report]:
    """-> how many models and adapters were checked, and what was found. Raises SpecError where the file cannot be read or parsed.

    look: is shown every model without errors. source: the file's text, where it is at hand. reader: gives the texts of used files.
    """
    program, report, work = load_source(source or read(path), path, reader), Report(), Work()
    for name in program.own:
        own = Report()  # one model's mistakes do not keep the next from being looked at
        try:
            _check(program.models[name], program, own, work, look, finder(path, reader, work))
        except SpecError as error:
            report.add(*error.diagnostics)
        else:
            report.add(*own.found)
        if work.refusal is not None:
            break
    for definition in program.adapters.values():
        own = Report()
        try:
            resolve_adapter(definition, program, own, work)
        except SpecError as error:
            report.add(*error.diagnostics)
        else:
            report.add(*own.found)
    return len(program.own), len(program.adapters), report


def _check(model: tree.Model, program: Program, report: Report, work: Work, look: Look | None, find: Finder) -> None:
    if not model.parameters:
        resolved = resolve(model, program, report, work=work)
        check_facts(resolved, report, find)
        if look is not None:
            look(resolved, report)
        return
    inner = Report()  # what a sample leaves unused is no finding of the family
    body = collect(model, program, report, work)
    field = body.fields.get("sample")
    if field is None:
        report.error(
            "VAL011", f"the family `{model.name}` has no `sample` config to be checked with", model.name_span, "add `sample = record(...)`"
        )
        return
    sample = evaluate(field.value, Scope(body.fields, report, evaluate, work=work))
    if not isinstance(sample, Record):
        report.error("VAL011", "a `sample` is a `record(...)`", field.span)
        return
    resolve(model, program, inner, sample, work=work)
