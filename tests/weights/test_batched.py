"""Tensors with an axis of one in front: taken without it, written with it again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from specc.weights.arrays import load
from specc.weights.checkpoint import open_checkpoint
from specc.weights.convert import to_own, to_published
from specc.weights.init import init
from specc.weights.mapping import place
from tests.harness import _torch_module
from tests.weights.files import checkpoint, model_of, numbers, refused

SPEC = """model m {
  vocab = 12  dim = 8  depth = 1  position = none  mask = causal  norm = rms(eps: 1e-5)
  attention = attention(heads: 2)
  ffn = moe(experts: 4, top_k: 2, expert: mlp(hidden: 6, activation: relu), router: softmax(bias_correction: true))
  block = pre_norm  head = lm(tied: true)
  weights hf {
    embed.tokens = "wte"
    final_norm = "ln_f"
    layers[i].norm.attention = "h.{i}.ln_1"
    layers[i].norm.ffn = "h.{i}.ln_2"
    layers[i].attention.q = "h.{i}.q"
    layers[i].attention.k = "h.{i}.k"
    layers[i].attention.v = "h.{i}.v"
    layers[i].attention.o = "h.{i}.o"
    layers[i].ffn.router = MATRIX
    layers[i].ffn.router.correction = batched("h.{i}.bias" | "h.{i}.other")
    layers[i].ffn.experts[e].up = "h.{i}.e.{e}.up"
    layers[i].ffn.experts[e].down = "h.{i}.e.{e}.down"
  }
}
"""
KEY = "layers.0.ffn.router.correction"


@pytest.mark.parametrize(("matrix", "shape"), [('batched("h.{i}.gate")', (1, 4, 8)), ('transpose(batched("h.{i}.gate"))', (1, 8, 4))])
def test_there_and_back(tmp_path: Path, matrix: str, shape: tuple[int, ...]) -> None:
    model = model_of(SPEC.replace("MATRIX", matrix))
    init(model, tmp_path / "own", seed=3)
    published = load_file(to_published(model, open_checkpoint(tmp_path / "own"), tmp_path / "hf"))
    assert published["h.0.bias"].shape == (1, 4) and published["h.0.gate.weight"].shape == shape
    again = load_file(to_own(model, open_checkpoint(tmp_path / "hf"), tmp_path / "again"))
    first = load_file(tmp_path / "own" / "weights.safetensors")
    assert first.keys() == again.keys() and all(np.array_equal(first[key], again[key]) for key in first)

    loaded = _torch_module(model).Model.from_checkpoint(tmp_path / "hf").state_dict()
    assert all(np.array_equal(first[key], loaded[key].numpy()) for key in first)


def test_its_bytes_lie_where_they_lay(tmp_path: Path) -> None:
    model = model_of(SPEC.replace("MATRIX", '"h.{i}.gate"'))
    init(model, tmp_path / "own", seed=3)
    to_published(model, open_checkpoint(tmp_path / "own"), tmp_path / "hf")
    stored = place(model, open_checkpoint(tmp_path / "hf")).stored[KEY]
    assert stored.shape == (4,) and stored.byte_range() is not None
    assert np.array_equal(load(stored), load_file(tmp_path / "hf" / "model.safetensors")["h.0.bias"][0])


def test_without_that_axis(tmp_path: Path) -> None:
    model = model_of(SPEC.replace("MATRIX", '"h.{i}.gate"'))
    init(model, tmp_path / "own", seed=3)
    tensors = load_file(to_published(model, open_checkpoint(tmp_path / "own"), tmp_path / "hf"))
    tensors["h.0.bias"] = tensors["h.0.bias"][0]
    with refused("WGT012", "`h.0.bias` has no first axis of length one"):
        place(model, open_checkpoint(checkpoint(tmp_path, tensors)))


def test_a_row_that_is_stored_as_a_vector(tmp_path: Path) -> None:
    text = """model m {
      dim = 8  depth = 1  input = image(size: 4, channels: 1, patch: 2)  embed = concat(class_token(), patches()) + learned_position()
      mask = bidirectional  norm = layer(eps: 1e-5)  attention = attention(heads: 2)  ffn = mlp(hidden: 6, activation: relu)  block = pre_norm  head = hidden
      weights hf {
        embed.class_token.weight = row("cls")  embed.learned_position.weight = batched("pos")  embed.patches = "patch"  final_norm = "ln_f"
        layers[i].norm.attention = "h.{i}.ln_1"  layers[i].norm.ffn = "h.{i}.ln_2"  layers[i].attention = "h.{i}"  layers[i].ffn = "h.{i}"
      }
    }"""
    model = model_of(text)
    init(model, tmp_path / "own", seed=3)
    published = load_file(to_published(model, open_checkpoint(tmp_path / "own"), tmp_path / "hf"))
    first = load_file(tmp_path / "own" / "weights.safetensors")
    assert published["cls"].shape == (8,) and published["pos"].shape == (1, 5, 8)
    again = load_file(to_own(model, open_checkpoint(tmp_path / "hf"), tmp_path / "again"))
    assert first.keys() == again.keys() and all(np.array_equal(first[key], again[key]) for key in first)
    loaded = _torch_module(model).Model.from_checkpoint(tmp_path / "hf").state_dict()
    assert all(np.array_equal(first[key], loaded[key].numpy()) for key in first)


def test_not_around_experts(tmp_path: Path) -> None:
    model = model_of(SPEC.replace("MATRIX", '"h.{i}.gate"').replace('"h.{i}.e.{e}.up"', 'stacked(batched("h.{i}.up"))'))
    with refused("WGT015", "layers.{i}.ffn.experts.{e}.up"):
        place(model, open_checkpoint(checkpoint(tmp_path, {"wte.weight": numbers(12, 8)})))
