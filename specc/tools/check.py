"""Checking one spec file: every model in it resolved, its checks evaluated; a family by its sample config."""

from __future__ import annotations

from pathlib import Path

from specc.diagnostics.finding import Report, SpecError
from specc.resolve.evaluate import evaluate
from specc.resolve.fields import collect
from specc.resolve.model import resolve
from specc.resolve.program import Program, load
from specc.resolve.scope import Scope
from specc.resolve.values import Record
from specc.syntax import tree
from specc.tools.facts import check_facts


def check_file(path: Path) -> tuple[int, Report]:
    """-> how many models were checked, and what was found. Raises SpecError where the file cannot be read or parsed."""
    program, report = load(path), Report()
    for name in program.own:
        try:
            _check(program.models[name], program, report)
        except SpecError as error:
            for found in error.diagnostics:
                report._add(found)
    return len(program.own), report


def _check(model: tree.Model, program: Program, report: Report) -> None:
    if not model.parameters:
        check_facts(resolve(model, program, report), report)
        return
    inner = Report()  # what a sample leaves unused is no finding of the family
    body = collect(model, program, report)
    field = body.fields.get("sample")
    if field is None:
        report.error("VAL011", f"the family `{model.name}` has no `sample` config to be checked with", model.name_span, "add `sample = record(...)`")
        return
    sample = evaluate(field.value, Scope(body.fields, report, evaluate))
    if not isinstance(sample, Record):
        report.error("VAL011", "a `sample` is a `record(...)`", field.span)
        return
    resolve(model, program, inner, sample)
