"""Rope with sections: positions in time, height and width that the caller gives, or the counted ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from specc.diagnostics import SpecError
from specc.tools.shrink import miniature
from specc.tools.verify.by_onnx import ByOnnx
from specc.tools.verify.by_torch import ByTorch
from specc.tools.verify.inputs import inputs, pieces
from specc.tools.verify.numbers import save
from tests.adapter.made import make
from tests.adapter.models import TINY
from tests.components.probe import picture, spec
from tests.harness import draw, inputs_of, model_of, run_onnx, run_torch
from tests.tolerance import TOLERANCE, distance

SECTIONS = "rope(theta: 100, sections: [1, 1, 1])"
PLAIN = "rope(theta: 100)"


def test_text_has_plain_ropes_numbers() -> None:
    sections, plain = model_of(spec(position=SECTIONS)), model_of(spec(position=PLAIN))
    weights, given = draw(plain), inputs_of(plain)
    want = run_torch(plain, weights, given)["last_hidden_state"]
    np.testing.assert_array_equal(run_torch(sections, weights, given)["last_hidden_state"], want)
    counted = np.maximum(given["attention_mask"].cumsum(1) - 1, 0)
    by_onnx = run_onnx(sections, weights, given | {"mrope_position_ids": np.stack([counted] * 3)})["last_hidden_state"]
    np.testing.assert_array_equal(by_onnx, run_onnx(plain, weights, given)["last_hidden_state"])


@pytest.mark.parametrize("mask", ["causal", "documents(causal)"])
def test_cached_steps_take_each_token_with_its_own_positions(tmp_path: Path, mask: str) -> None:
    model = model_of(spec(position=SECTIONS, mask=mask))
    numbers = draw(model)
    given = inputs(model, 16, padded=True)
    axes = given.given["mrope_position_ids"]
    assert axes.shape == (3, 2, 16) and len({values.tobytes() for values in axes}) == 3
    save(model, numbers, tmp_path)
    by_torch = ByTorch(model, numbers, tmp_path)
    want = by_torch.run(given)["last_hidden_state"][given.mask == 1]
    for by in (by_torch, ByOnnx(model, tmp_path)):
        assert distance(by.steps(given, pieces(16))["last_hidden_state"][given.mask == 1], want) <= TOLERANCE["float32"]
    row = given.row(1)
    assert row.given["mrope_position_ids"].shape == (3, 1, 11)


def test_a_mixture_of_plain_layers_and_layers_with_sections() -> None:
    layers = f"layer near {{ position = {PLAIN} }}  layer far {{ position = {SECTIONS} }}  layers = [near, far]"
    model = model_of(spec(layers, position=None))
    plain = model_of(spec(position=PLAIN))
    given = inputs_of(plain)
    found = run_torch(model, draw(model), given)["last_hidden_state"]
    np.testing.assert_array_equal(found, run_torch(plain, draw(plain), given)["last_hidden_state"])


def test_a_miniature_keeps_every_section() -> None:
    sizes = {"vocab": 5000, "dim": 512, "attention": "attention(heads: 4, kv_heads: 2, head_dim: 128)"}
    model = model_of(spec(**sizes, position="rope(theta: 1_000_000, sections: [16, 24, 24])"))
    assert miniature(model).stack.layers[0].position.sections == (2, 3, 3)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (spec(position="rope(sections: [1, 1, 2])"), "SHP002"),
        (spec(position="rope(partial: 4, sections: [1, 1, 1])"), "SHP002"),
        (spec(position="rope(sections: [4, -1, 0])"), "VAL001"),
        (spec(position="rope(sections: [2, 1])"), "TYP001"),
        (spec(position="rope(sections: [1, 1, 1, 0])"), "TYP001"),
        (spec(position="rope(sections: [1, 1, 1], scaling: dynamic(factor: 2, original: 8))"), "CAP009"),
        (picture(position="rope(sections: [1, 1, 1])"), "CAP009"),
    ],
)
def test_refused(text: str, code: str) -> None:
    with pytest.raises(SpecError) as error:
        model_of(text)
    assert code in {found.code for found in error.value.diagnostics}


@pytest.mark.parametrize("body", ["prefix(length: 3)", "prompt(length: 2)"])
def test_what_stands_ahead_has_no_positions_on_the_axes(tmp_path: Path, body: str) -> None:
    half = model_of(TINY).stack.layers[0].served[0].component.head_dim // 2
    text = TINY.replace("rope(theta: 10_000)", f"rope(theta: 10_000, sections: [{half}, 0, 0])")
    with pytest.raises(SpecError, match="mrope_position_ids"):
        make(tmp_path, text, body)


@pytest.mark.parametrize(
    ("settings", "sections"),
    [
        ('rope_theta: 100.0, rope_scaling: record(type: "mrope", mrope_section: [2, 1, 0])', (2, 1, 0)),
        ('rope_parameters: record(rope_theta: 100.0, rope_type: "default", type: "default", mrope_section: [0, 1, 2])', (0, 1, 2)),
        ("rope_theta: 100.0", (1, 1, 1)),
    ],
)
def test_published_settings(settings: str, sections: tuple[int, ...]) -> None:
    """Both published forms, and the family's own sections where a config names none."""
    text = spec(f"config = record({settings})", position="rope_of(config, sections: [1, 1, 1])")
    assert model_of(text).stack.layers[0].position.sections == sections
