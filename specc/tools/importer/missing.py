"""Which fields a config would have to state: those without which not even the family's own sample is a model."""

from __future__ import annotations

from specc.diagnostics.finding import Report, SpecError
from specc.resolve.evaluate import evaluate
from specc.resolve.fields import collect
from specc.resolve.model import resolve
from specc.resolve.program import Program
from specc.resolve.scope import Scope
from specc.resolve.values import Record
from specc.syntax import tree


def missing_fields(config: Record, family: tree.Model, program: Program) -> list[str]:
    """The fields that the family cannot do without, and that the config does not state."""
    fields = collect(family, program, Report()).fields
    sample = evaluate(fields["sample"].value, Scope(fields, Report(), evaluate))
    return [name for name in sample.values if config.values.get(name) is None and not _resolves(without(sample, name), family, program)]


def without(sample: Record, name: str) -> Record:
    return Record({n: v for n, v in sample.values.items() if n != name})


def _resolves(config: Record, family: tree.Model, program: Program) -> bool:
    try:
        resolve(family, program, Report(), config)
    except SpecError:
        return False
    return True
