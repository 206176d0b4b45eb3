"""Checks that compare a model with another spec's: `architecture == "base.specc"`, `layout == "base.specc"`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from specc.diagnostics.finding import Report, fail
from specc.ir.fingerprint import fingerprint
from specc.ir.model import Model
from specc.resolve.evaluate import evaluate
from specc.resolve.model import Resolved, resolve
from specc.resolve.program import Reader, load_source
from specc.resolve.values import describe
from specc.resolve.work import Work
from specc.source import Span
from specc.syntax import tree

Finder = Callable[[str, Span], Resolved]


def layout(model: Model) -> list[tuple]:
    """Every stored tensor with its shape and role: what a checkpoint holds."""
    return sorted((key, p.shape, p.role) for key, p in model.parameters().items())


OTHER = {  # what two models may have in common, and what it says where they do not
    "architecture": (fingerprint, "does not compute what `{}` does"),
    "layout": (layout, "does not hold the tensors of `{}`"),
}
SHOWN = 3  # differences that a finding names


def against(check: tree.Check, resolved: Resolved, finder: Finder | None, report: Report) -> None:
    """Adds a finding where a model is not what the check says of it and another. Raises SpecError where that cannot be said."""
    what = check.fact.span.text
    path = evaluate(check.value, resolved.scope)
    if check.operator not in ("==", "!=") or not isinstance(path, str):
        raise fail(
            "CHK002", f"`{what}` is compared with a file, and this is {describe(path)}", check.span, f'`{what} == "base.specc"`, for one'
        )
    if finder is None:
        raise fail("CHK002", f"`{what}` cannot be compared with {path}: this model stands in no file", check.value.span)
    other = finder(path, check.value.span)
    of, unlike = OTHER[what]
    if (of(resolved.model) == of(other.model)) == (check.operator == "=="):
        return
    told = unlike.format(path) if check.operator == "==" else f"has the {what} of `{path}`"
    report.error("CHK001", f"this check does not hold: `{resolved.model.name}` {told}", check.span, _differences(other, resolved) or None)


def _differences(other: Resolved, resolved: Resolved) -> str:
    """The first differences, in the words of `specc diff`."""
    from specc.tools.diff.models import compare
    from specc.tools.diff.reason import Level
    from specc.tools.diff.report import change

    reasons = [r for r in compare(other, resolved).reasons if r.level is not None and r.level >= Level.COMPUTES]
    shown = [f"{r.path} {change(r)}" for r in reasons[:SHOWN]]
    return "; ".join(shown) + (f"; and {len(reasons) - SHOWN} more" if len(reasons) > SHOWN else "")


def finder(path: Path, reader: Reader, work: Work) -> Finder:
    """Finds models for the checks of one file: `"other.specc"`, or `"other.specc#model"` where that holds several."""

    def find(name: str, span: Span) -> Resolved:
        file, _, wanted = name.partition("#")
        target = path.parent / file
        program = load_source(reader(target, str(target), span), target, reader)
        concrete = [n for n in program.own if not program.models[n].parameters]
        if not wanted and len(concrete) != 1:
            known = f'name one: `"{file}#{concrete[0]}"`' if concrete else None
            raise fail("CHK002", f"`{file}` holds {len(concrete)} models, and this compares with one", span, known)
        wanted = wanted or concrete[0]
        if wanted not in program.models or program.models[wanted].parameters:
            raise fail("NAM008", f"no model is called `{wanted}` in {file}", span)
        return resolve(program.models[wanted], program, Report(), work=work)

    return find
