"""No field is read and ignored: each one moves the numbers, and ONNX Runtime follows PyTorch at both values."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from specc.components.registry import load, members
from specc.diagnostics.finding import SpecError
from specc.tools.tolerance import TOLERANCE, VISIBLE, distance
from tests.adapter.made import make, resolved
from tests.adapter.models import TINY
from tests.adapter.probes import PROBES, REFUSED

IDS = torch.tensor([[5, 17, 3, 44, 9], [8, 21, 33, 7, 14]])
FIELDS = [(kind, name) for kind in members("adapter") for name in load("adapter", kind).model_fields if name != "kind"]
ARCHITECTURE = [(kind, name) for kind, name in FIELDS if load("adapter", kind).role(name) == "architecture"]


def test_every_field_has_a_probe():
    assert {(kind, name) for kind, fields in PROBES.items() for name in fields} | REFUSED == set(ARCHITECTURE)
    assert {pair for pair in FIELDS if pair not in ARCHITECTURE} == {("lora", "dropout")}


@pytest.mark.parametrize(("kind", "name"), [pair for pair in ARCHITECTURE if pair not in REFUSED])
def test_a_field_moves_both_back_ends(tmp_path: Path, kind: str, name: str):
    model, *bodies = PROBES[kind][name]
    found = []
    for number, body in enumerate(bodies):
        folder = tmp_path / str(number)
        folder.mkdir()
        made = make(folder, model, body)
        with torch.no_grad():
            out = made.model(IDS)
        output = "logits" if hasattr(out, "logits") else "last_hidden_state"
        found.append(getattr(out, output))
        assert distance(made.onnx().run(IDS, torch.ones_like(IDS))[output], found[-1]) <= TOLERANCE["float32"]
    assert distance(found[1], found[0]) > VISIBLE * TOLERANCE["float32"]


@pytest.mark.parametrize(("kind", "name"), sorted(REFUSED))
def test_a_field_that_a_method_cannot_take_is_refused(tmp_path: Path, kind: str, name: str):
    with pytest.raises(SpecError, match="ADP006"):
        resolved(tmp_path, TINY, f"{kind}(length: 2, {name}: [0])")
