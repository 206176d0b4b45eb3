"""No field of a component changes unnoticed: generated from the registry and from the probes of every component."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from specc.diagnostics.finding import Report
from specc.ir.fingerprint import fingerprint
from specc.resolve.model import Resolved, resolve
from specc.resolve.program import load_source
from specc.source import Source
from specc.tools.diff.models import compare
from specc.tools.diff.reason import Difference, Level
from tests.components.probe import Case, Probe
from tests.contract.probes import cases, entries, probes
from tests.harness import architecture_fields, every_kind


@pytest.fixture(autouse=True)
def no_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a change does to inputs and outputs is not asked here, and building two graphs takes most of the time."""
    monkeypatch.setattr("specc.tools.diff.interface.interface", lambda old, new: ())


@cache
def resolved(text: str) -> Resolved:
    program = load_source(Source("probe.specc", text), Path("probe.specc"))
    return resolve(program.models[program.own[-1]], program, Report())


@cache
def differ(before: str, after: str) -> Difference:
    return compare(resolved(before), resolved(after))


def shapes(text: str) -> dict[str, tuple[int, ...]]:
    return {key: parameter.shape for key, parameter in resolved(text).model.parameters().items()}


@cache
def values(text: str, field: str) -> list[str]:
    """What the fields of this name hold, wherever they stand."""
    found, waiting = [], [resolved(text).model.model_dump(mode="json")]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            found += [repr(value) for name, value in one.items() if name == field]
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return found


def test_every_field_is_looked_at() -> None:
    """A field without a probe, here or in the mutation test, would pass unseen."""
    assert [f"{a}.{k}.{f}" for a, k in every_kind() for f in architecture_fields(a, k) if not entries(a, k, f)] == []


@pytest.mark.parametrize(
    ("field", "probe"), [pytest.param(field, probe, id=f"{axis}.{kind}.{field}-{number}") for axis, kind, field, number, probe in probes()]
)
@pytest.mark.parametrize("back", [False, True], ids=["there", "back"])
def test_a_changed_field_is_named(field: str, probe: Probe, back: bool) -> None:
    before, after = (probe.after, probe.before) if back else (probe.before, probe.after)
    found = differ(before, after)
    if shapes(before) == shapes(after):
        assert found.level == Level.COMPUTES
    else:
        assert found.level >= Level.CONVERTIBLE
    itself = values(before, field) != values(after, field)  # a probe may hold it fast, and change what stands beside it
    named = [r for r in found.reasons if (field in r.path.split(".") or not itself) and (r.category == "numerics" or r.change == "retied")]
    assert named, [r.path for r in found.reasons]
    assert all(r.level >= Level.COMPUTES and r.old != r.new and r.pointer and r.path for r in named)
    assert any(r.old_at or r.new_at for r in named), "the source line of one side at least"
    assert fingerprint(resolved(before).model) != fingerprint(resolved(after).model)


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{axis}.{kind}-{number}") for axis, kind, number, case in cases()])
def test_another_kind_is_noticed(case: Case) -> None:
    for other in case.instead:
        found = differ(case.text, other)
        assert found.level >= Level.COMPUTES
        assert any(r.category == "numerics" for r in found.reasons)


@pytest.mark.parametrize("text", [pytest.param(p.before, id=f"{a}.{k}.{f}-{n}") for a, k, f, n, p in probes() if n == 0])
def test_a_model_is_identical_to_itself(text: str) -> None:
    found = differ(text, text)
    assert (found.level, found.reasons) == (Level.IDENTICAL, [])
