"""Parameters whose rows lie in tensors of their own: taken together, and written apart again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from specc.backends.onnx.write import write
from specc.weights.arrays import load
from specc.weights.checkpoint import open_checkpoint
from specc.weights.convert import to_own, to_published
from specc.weights.init import init
from specc.weights.mapping import place
from tests.backends.onnx.running import open_session, run
from tests.harness import _torch_module, run_torch
from tests.tolerance import TOLERANCE, distance
from tests.weights.files import checkpoint, model_of, refused

SPEC = """model m {
  vocab = 12  dim = 8  depth = 2  position = rope(theta: 100)  mask = causal  norm = rms(eps: 1e-5)
  attention = attention(heads: 4, kv_heads: 2, head_dim: 6, qk_norm: layer(eps: 1e-5, bias: false), qk_norm_over: each_head)
  ffn = mlp(hidden: 6, activation: relu)  block = pre_norm  head = lm(tied: true)
  weights hf {
    root = "model." | ""
    embed.tokens = "wte"
    final_norm = "ln_f"
    layers[i].norm.attention = "h.{i}.ln_1"
    layers[i].norm.ffn = "h.{i}.ln_2"
    layers[i].attention = "h.{i}.a"
    layers[i].attention.q_norm = Q
    layers[i].attention.k_norm = gathered("h.{i}.k_norms.{r}")
    layers[i].ffn = "h.{i}.f"
  }
}
"""
Q = 'gathered("h.{i}.q_norms.{r}")'
KEY = "layers.1.attention.q_norm.weight"


def published(folder: Path):
    """The model, and its checkpoint in the published layout under `hf`."""
    model = model_of(SPEC.replace("= Q", f"= {Q}"))
    init(model, folder / "own", seed=3)
    to_published(model, open_checkpoint(folder / "own"), folder / "hf")
    return model


def test_there_and_back(tmp_path: Path) -> None:
    model = published(tmp_path)
    tensors = load_file(tmp_path / "hf" / "model.safetensors")
    assert {name: t.shape for name, t in tensors.items() if "h.1.q_norms" in name} == {f"model.h.1.q_norms.{r}.weight": (6,) for r in range(4)}
    again = load_file(to_own(model, open_checkpoint(tmp_path / "hf"), tmp_path / "again"))
    first = load_file(tmp_path / "own" / "weights.safetensors")
    assert first.keys() == again.keys() and all(np.array_equal(first[key], again[key]) for key in first)
    assert np.array_equal(load(place(model, open_checkpoint(tmp_path / "hf")).stored[KEY]), first[KEY])


def test_both_back_ends_read_them(tmp_path: Path) -> None:
    """The graph points at each row where it lies."""
    model = published(tmp_path)
    given = {"input_ids": np.random.default_rng(1).integers(0, 12, (2, 7)), "attention_mask": np.ones((2, 7), np.int64)}
    want = run_torch(model, load_file(tmp_path / "own" / "weights.safetensors"), given)["logits"]
    done = write(model, tmp_path / "hf", tmp_path / "hf")
    assert distance(run(open_session(done.graphs[0]), given)["logits"], want) <= TOLERANCE["float32"]
    loaded = _torch_module(model).Model.from_checkpoint(tmp_path / "hf").state_dict()
    own = load_file(tmp_path / "own" / "weights.safetensors")
    assert all(np.array_equal(own[key], loaded[key].numpy()) for key in own)


def test_a_row_that_is_missing(tmp_path: Path) -> None:
    model = published(tmp_path)
    tensors = load_file(tmp_path / "hf" / "model.safetensors")
    del tensors["model.h.1.q_norms.2.weight"]
    with refused("WGT011", "its row 2 (looked for `model.h.1.q_norms.2.weight`)"):
        place(model, open_checkpoint(checkpoint(tmp_path / "other", tensors)))


@pytest.mark.parametrize("text", ['transpose(gathered("h.{i}.q.{r}"))', 'fused(gathered("h.{i}.q.{r}"), order: [q_norm, k_norm])'])
def test_alone(text: str, tmp_path: Path) -> None:
    model = published(tmp_path)
    with refused("WGT015", "layers.{i}.attention"):
        place(model_of(SPEC.replace("= Q", f"= {text}")), open_checkpoint(tmp_path / "hf"))
    assert model is not None


def test_a_name_without_the_row() -> None:
    with refused("TYP010", "`{r}` stands for the row's number"):
        model_of(SPEC.replace("= Q", '= gathered("h.{i}.q_norms")'))
