"""No field is parsed and then ignored: changing it changes the oracle, and both back ends change with it, to the same numbers.

Generated from the registry: a kind or a field without a probe in `tests/components/<axis>/<kind>.py` fails here. Fields that
only training or the runtime uses are marked so in the component and have no probe; a value that is refused has its code.
"""

from __future__ import annotations

import pytest

from specc.diagnostics.finding import SpecError
from tests.components.probe import Case, Draw, Probe, Refused
from tests.contract.probes import cases, entries, expected, file_of, leaves, probes, refusals, variants
from tests.harness import architecture_fields, every_kind, model_of, run_onnx, run_torch
from tests.tolerance import TOLERANCE, VISIBLE, distance

TOL = TOLERANCE["float32"]


@pytest.mark.parametrize(("axis", "kind"), every_kind())
def test_every_kind_has_a_formula_and_a_probe_for_each_field(axis: str, kind: str):
    file = file_of(axis, kind)
    assert file is not None, f"tests/components/{axis}/{kind}.py is missing"
    fields = architecture_fields(axis, kind)
    missing = [name for name in fields if not entries(axis, kind, name)]
    assert not missing, f"tests/components/{axis}/{kind}.py has no probe for {', '.join(missing)}"
    unknown = set(getattr(file, "PROBES", {})) - set(fields)
    assert not unknown, f"tests/components/{axis}/{kind}.py probes {', '.join(sorted(unknown))}, which {kind} does not have"
    assert fields or getattr(file, "CASES", ()), f"{kind} has no field, so tests/components/{axis}/{kind}.py needs a case"


@pytest.mark.parametrize(
    ("axis", "kind", "field", "probe"),
    [pytest.param(axis, kind, field, probe, id=f"{axis}.{kind}.{field}-{number}") for axis, kind, field, number, probe in probes()],
)
def test_the_field_moves_the_oracle(axis: str, kind: str, field: str, probe: Probe):
    before, after = leaves(model_of(probe.before)), leaves(model_of(probe.after))
    changed = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
    assert any(field in path for path in changed), f"the two specs have the same {field}"
    others = [path for path in changed if field not in path and not set(path) & set(probe.follows)]
    assert not others, f"more than {field} differs: {others}"
    _differ(_numbers(probe.before, probe.draw), _numbers(probe.after, probe.draw))


@pytest.mark.parametrize(
    ("axis", "kind", "case"),
    [pytest.param(axis, kind, case, id=f"{axis}.{kind}-{number}") for axis, kind, number, case in cases()],
)
def test_another_kind_in_its_place_moves_the_oracle(axis: str, kind: str, case: Case):
    for other in case.instead:
        _differ(_numbers(case.text, case.draw), _numbers(other, case.draw))


@pytest.mark.parametrize(("text", "change"), [pytest.param(text, change, id=name) for name, text, change in variants()])
def test_pytorch_equals_the_oracle(text: str, change: Draw):
    model, weights, inputs, want = expected(text, change)
    _agree(run_torch(model, weights, inputs), want)


@pytest.mark.parametrize(("text", "change"), [pytest.param(text, change, id=name) for name, text, change in variants()])
def test_onnx_runtime_equals_the_oracle(text: str, change: Draw):
    model, weights, inputs, want = expected(text, change)
    _agree(run_onnx(model, weights, inputs), want)


@pytest.mark.parametrize(
    ("refused", "by"),
    [pytest.param(r, by, id=f"{axis}.{kind}.{field}-{number}-{by}") for axis, kind, field, number, r in refusals() for by in r.by],
)
def test_what_is_refused_says_so(refused: Refused, by: str):
    with pytest.raises(SpecError) as caught:
        model = model_of(refused.text)
        assert by != "front", "the front end takes it"
        run = run_torch if by == "torch" else run_onnx
        run(model, *expected(refused.text, Draw())[1:3])
    assert refused.code in [d.code for d in caught.value.diagnostics]


def _numbers(text: str, change: Draw) -> dict:
    return expected(text, change)[3]


def _differ(one: dict, other: dict) -> None:
    """Another set of outputs or another shape is a difference too."""
    if one.keys() != other.keys():
        return
    moved = max(distance(other[name], one[name]) for name in one)
    assert moved > VISIBLE * TOL, f"the numbers move by {moved:.1e} only, and {VISIBLE * TOL:.0e} are wanted"


def _agree(got: dict, want: dict) -> None:
    assert got.keys() >= want.keys()
    far = {name: d for name in want if not (d := distance(got[name], want[name])) <= TOL}
    assert not far, f"relative distance from the oracle {far}, and {TOL:.0e} is allowed"
