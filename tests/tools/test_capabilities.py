"""The table of capabilities is fresh, and what a component calls native is an operator's own attribute or input."""

from __future__ import annotations

from collections import Counter

import pytest

from specc.components.registry import load
from specc.tools.capabilities import PAGE, REFUSED, page
from tests.components.probe import Probe
from tests.contract.probes import cases, entries, file_of
from tests.harness import every_kind, model_of

pytest.importorskip("onnx")
CLAIMS = [(axis, kind, field, operator) for axis, kind in every_kind() for field, operator in load(axis, kind).native.items()]


def nodes(text: str) -> list:
    from specc.backends.onnx.emit import graphs
    from specc.weights.own import own_layout
    from specc.weights.stored import Stored

    model = model_of(text)
    graph = graphs(model, {key: Stored(tensor) for key, tensor in own_layout(model)[1].items()})["model.onnx"].graph
    shapes = {i.name: tuple(i.dims) for i in graph.initializer}
    return [(node, tuple(shapes.get(given) for given in node.input)) for node in graph.node]


def uses(text: str, operator: str) -> Counter[tuple]:
    """Each use of an operator: its attributes, how many inputs it has, and the shapes of its weights."""
    found = [(node, shapes) for node, shapes in nodes(text) if node.op_type == operator]
    return Counter((tuple(sorted(str(a) for a in node.attribute)), shapes) for node, shapes in found)


def test_the_page_is_fresh():
    assert PAGE.read_text("utf-8") == page(), "run python -m specc.tools.capabilities"


def test_every_kind_and_every_refusal_is_there():
    text = page()
    assert all(f"| {kind} | " in text for _, kind in every_kind())
    assert all(f"| {code} | " in text for code in REFUSED)


@pytest.mark.parametrize(("axis", "kind", "field", "operator"), CLAIMS)
def test_a_native_field_is_the_operator_s_own(axis: str, kind: str, field: str, operator: str):
    if field == "kind":
        texts = [entry.before for name in load(axis, kind).model_fields for entry in entries(axis, kind, name) if isinstance(entry, Probe)]
        texts += [case.text for case in getattr(file_of(axis, kind), "CASES", ())]
        assert texts and any(uses(text, operator) for text in texts)
        return
    probes = [entry for entry in entries(axis, kind, field) if isinstance(entry, Probe)]
    assert probes and any(uses(p.before, operator) != uses(p.after, operator) for p in probes), f"{operator} does not change with {field}"


def test_the_claims_are_about_fields_that_exist():
    for axis, kind in every_kind():
        assert set(load(axis, kind).native) <= set(load(axis, kind).model_fields), kind
    assert any(True for _ in cases())
