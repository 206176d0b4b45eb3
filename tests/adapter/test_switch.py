"""Adapters over one model: new ones change nothing, rows of a batch choose theirs, several at once, in and out of the weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from specc.backends.torch.adapter.emit import emit_adapter
from specc.tools.tolerance import TOLERANCE, VISIBLE, distance
from tests.adapter.made import Made, make, resolved
from tests.adapter.models import ENCODER, MOE, TINY
from tests.adapter.published import perturb, python

IDS = torch.tensor([[5, 17, 3, 44, 9], [8, 21, 33, 7, 14], [60, 2, 31, 1, 6]])
UNTIED = TINY.replace("tied: true", "tied: false")
LORA = "lora(rank: 3, alpha: 5, targets: [attention.q, fused(attention.k, attention.v), ffn.down])"
EVERYWHERE = LORA.replace("ffn.down", "ffn.down, embed.tokens, head")
DORA = "lora(rank: 3, alpha: 5, dora: true, targets: [attention.q, ffn.up])"
IA3 = "ia3(after: [attention.k, attention.v], before: [ffn.down])"
BOTTLENECK = "bottleneck(dim: 6, activation: gelu, after: [attention, ffn])"
CASES = {"lora": EVERYWHERE, "dora": DORA, "ia3": IA3, "bottleneck": BOTTLENECK, "both": f"{LORA} {BOTTLENECK} {IA3}"}


def logits(model: torch.nn.Module, ids: torch.Tensor = IDS) -> torch.Tensor:
    with torch.no_grad():
        return model(ids).logits


def another(made: Made, body: str, name: str = "generated_other") -> torch.nn.Module:
    """A second adapter over the same model, perturbed."""
    other = python(emit_adapter(resolved(made.folder, UNTIED, body)), name).Adapter(made.model)
    perturb(other.parameters(), 0.2)
    return other


@pytest.mark.parametrize("body", CASES.values(), ids=CASES)
def test_a_new_adapter_leaves_every_bit(tmp_path: Path, body: str):
    made = make(tmp_path, UNTIED, body)
    made.over.enabled = False
    before = logits(made.model)
    new = python(emit_adapter(made.adapter), "generated_new").Adapter(made.model)
    assert torch.equal(logits(made.model), before)
    assert not any(p.requires_grad for p in made.model.parameters())
    assert {id(p) for p in new.trainable_parameters()} == {id(p) for p in new.parameters()} and new.trainable_parameters()
    assert all(p.requires_grad for p in new.trainable_parameters())


@pytest.mark.parametrize("body", [*CASES.values(), "prefix(length: 3)", "prompt(length: 2)"], ids=[*CASES, "prefix", "prompt"])
def test_a_switch_for_each_row(tmp_path: Path, body: str):
    made = make(tmp_path, UNTIED, body)
    adapted = logits(made.model)
    made.over.enabled = False
    plain = logits(made.model)
    made.over.enabled = True
    made.over.rows = torch.tensor([False, True, False])
    mixed = logits(made.model)
    assert distance(mixed[1], adapted[1]) <= TOLERANCE["float32"]
    assert distance(mixed[0], plain[0]) <= TOLERANCE["float32"] and distance(mixed[2], plain[2]) <= TOLERANCE["float32"]
    assert distance(adapted[0], plain[0]) > VISIBLE * TOLERANCE["float32"]


def test_each_row_its_own_adapter(tmp_path: Path):
    made = make(tmp_path, UNTIED, LORA)
    other = another(made, BOTTLENECK)
    made.over.enabled, other.enabled = True, False
    first = logits(made.model)
    made.over.enabled, other.enabled = False, True
    second = logits(made.model)
    made.over.enabled = True
    made.over.rows, other.rows = torch.tensor([True, False, False]), torch.tensor([False, True, True])
    mixed = logits(made.model)
    assert distance(mixed[:1], first[:1]) <= TOLERANCE["float32"] and distance(mixed[1:], second[1:]) <= TOLERANCE["float32"]
    with pytest.raises((IndexError, RuntimeError)):
        made.over.rows = torch.tensor([True, False, False, True])
        logits(made.model)


def test_two_doras_merged_are_two_doras_beside(tmp_path: Path):
    """Each row's length is that of the model's own weight with one update, however many are merged."""
    made = make(tmp_path, UNTIED, DORA)
    other = another(made, DORA)
    weights = {name: tensor.clone() for name, tensor in made.model.state_dict().items()}
    beside = logits(made.model)
    made.over.merge()
    half = logits(made.model)
    other.merge()
    assert distance(half, beside) <= 1e-6 and distance(logits(made.model), beside) <= 1e-6
    made.over.unmerge()
    assert distance(logits(made.model), beside) <= 1e-6
    other.unmerge()
    assert all(torch.equal(tensor, weights[name]) for name, tensor in made.model.state_dict().items())



def test_a_bottleneck_acts_before_the_sum_and_the_norm(tmp_path: Path):
    """On a post-norm layer: norm(x + a(attention(x))), written out with the model's own modules."""
    for parallel, after in ((False, "attention"), (True, "ffn"), (False, "block")):
        made = make(tmp_path, ENCODER, f"bottleneck(dim: 5, activation: silu, after: [{after}], scale: 0.5, parallel: {str(parallel).lower()}, layers: [0])")
        layer = made.model.layers[0]
        x = torch.randn(2, 4, 32)
        with torch.no_grad():
            got = layer(x, None)
            made.over.enabled = False
            t = {name.rpartition("bottleneck.")[2]: torch.from_numpy(array) for name, array in made.tensors.items()}

            def small(y, t=t):
                return 0.5 * (torch.nn.functional.silu(y @ t["down.weight"].T + t["down.bias"]) @ t["up.weight"].T + t["up.bias"])

            a = layer.attention(x, None)
            middle = layer.attention_norm(x + (a + small(a) if after == "attention" else a))
            f = layer.ffn(middle)
            want = layer.ffn_norm(middle + (f + small(middle) if after == "ffn" else f))
            want = want + small(want) if after == "block" else want
        assert distance(got, want) <= TOLERANCE["float32"]


@pytest.mark.parametrize("body", [*CASES.values(), BOTTLENECK.replace("[attention, ffn]", "[block]"), "prompt(length: 2) " + LORA])
def test_the_graph_follows(tmp_path: Path, body: str):
    made = make(tmp_path, UNTIED, body)
    mask = torch.ones_like(IDS)
    graph = made.onnx()
    assert distance(graph.run(IDS, mask)["logits"], logits(made.model)) <= TOLERANCE["float32"]
    graph.adapter = None
    made.over.enabled = False
    assert distance(graph.run(IDS, mask)["logits"], logits(made.model)) <= TOLERANCE["float32"], "without an adapter it is the model"


def test_inside_experts_an_adapter_acts_in_all_rows(tmp_path: Path):
    made = make(tmp_path, MOE, "lora(rank: 2, targets: [ffn.experts, attention.q])")
    assert distance(made.onnx().run(IDS, torch.ones_like(IDS))["logits"], logits(made.model)) <= TOLERANCE["float32"]
    made.over.rows = torch.tensor([True, False, True])
    with pytest.raises(NotImplementedError, match="experts"):
        logits(made.model)


def test_saved_alone_and_read_again(tmp_path: Path):
    made = make(tmp_path, UNTIED, f"{LORA} {BOTTLENECK}")
    want = logits(made.model)
    made.over.save(tmp_path / "saved")
    perturb(made.over.parameters())
    made.over.load(tmp_path / "saved")
    assert torch.equal(logits(made.model), want)
    from safetensors.numpy import load_file

    held = load_file(tmp_path / "saved" / "adapter.safetensors")
    assert {name: array.shape for name, array in held.items()} == {name: p.shape for name, p in made.adapter.parameters().items()}
    assert all(np.array_equal(held[name], array) for name, array in made.tensors.items())


def test_dropout_is_of_training_only(tmp_path: Path):
    made = make(tmp_path, UNTIED, LORA.replace("alpha: 5", "alpha: 5, dropout: 0.5"))
    assert torch.equal(logits(made.model), logits(made.model))
    made.model.train()
    assert not torch.equal(logits(made.model), logits(made.model))
