"""Adapters: faults that other projects had, with the right numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from specc.backends.torch.adapter.emit import emit_adapter
from specc.components.adapter.lora import LoRA
from specc.diagnostics.finding import SpecError
from specc.ir.adapter import sites
from specc.tools.importer.run import import_model
from specc.weights.adapter.merging import merged
from specc.weights.checkpoint import open_checkpoint
from specc.weights.mapping import place
from tests.adapter.made import Made, make, resolved
from tests.adapter.published import python
from tests.cases.values import family_model

LLAMA = {
    "model_type": "llama", "vocab_size": 32, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 24, "max_position_embeddings": 64,
}  # fmt: skip
SQUARE = """
model tiny {
  vocab = 32  dim = 16  depth = 1  context = 16
  position = none  mask = causal  norm = layer(eps: 1e-5)
  attention = attention(heads: 2, bias: true)  ffn = mlp(hidden: 16, activation: relu, bias: true)
  block = pre_norm  head = lm(tied: false)
}
"""
NARROW = SQUARE.replace("dim = 16", "dim = 6").replace("hidden: 16", "hidden: 4")


def filled(made: Made, **values: float) -> None:
    """Every tensor of the adapter whose name ends so, filled with a number."""
    with torch.no_grad():
        for name, parameter in made.over.named_parameters():
            for end, value in values.items():
                if name.endswith(f".{end}"):
                    parameter.fill_(value)


def test_a_stabilised_scale_is_over_the_root_of_the_rank(tmp_path: Path) -> None:
    """lora-set-scale-rslora, https://github.com/huggingface/peft/issues/2733: rank 16, alpha 16, rank-stabilised: 4.0"""
    assert LoRA(rank=16, alpha=16, targets=(("attention.q",),), rank_stabilised=True).scale == 4.0
    adapter = resolved(tmp_path, SQUARE, "lora(rank: 16, alpha: 16, rank_stabilised: true, targets: [attention.q])")
    assert "scale=4.0" in emit_adapter(adapter)


def test_alpha_is_divided_by_the_rank(tmp_path: Path) -> None:
    """lora-alpha-not-divided-by-rank, https://github.com/Blaizzy/mlx-vlm/pull/986: rank 8, alpha 16, ones: 2 * B A x"""
    made = make(tmp_path, SQUARE, "lora(rank: 8, alpha: 16, targets: [ffn.up])")
    filled(made, a=1, b=1)
    up, ones = made.model.layers[0].ffn.up, torch.ones(1, 1, 16)
    with torch.no_grad():
        made.over.enabled = False
        before = up(ones)
        made.over.enabled = True
        beside = up(ones)
        made.over.merge()
        assert torch.allclose(beside - before, torch.full((1, 1, 16), 2.0 * 8 * 16), rtol=1e-6)
        assert (up(ones) - beside).abs().max() <= 1e-6 * beside.abs().max()


def test_a_tied_table_that_differs_from_the_head_is_not_passed_over(tmp_path: Path) -> None:
    """tied-flag-kept-after-untied-merge, https://github.com/huggingface/transformers/issues/45127: the tensors decide, not the flag"""
    model = family_model(LLAMA | {"tie_word_embeddings": True})
    found = {name: torch.zeros(p.shape) for name, p in published(model).items()}
    save_file(found | {"lm_head.weight": torch.ones_like(found["model.embed_tokens.weight"])}, tmp_path / "model.safetensors")
    with pytest.raises(SpecError, match="WGT013"):
        place(model, open_checkpoint(tmp_path))


def published(model) -> dict:
    """The published name of each parameter, with its shape."""
    from specc.weights.rules import candidates

    ways = candidates(model.weights[0], model.parameters())
    return {f"{'' if (name := ways[key][0].names[0]).startswith('/') else 'model.'}{name.removeprefix('/')}": p for key, p in model.parameters().items()}


def test_the_magnitude_is_of_each_output(tmp_path: Path) -> None:
    """dora-merge-formula, https://github.com/unslothai/unsloth-zoo/pull/828: W' = (m / |W + s B A| by row) (W + s B A)"""
    made = make(tmp_path, NARROW, "lora(rank: 2, alpha: 4, dora: true, targets: [ffn.up])")
    key = "layers.0.ffn.up"
    weight = made.model.get_submodule(key).weight.detach().numpy().copy()
    made.tensors[f"{key}.lora.magnitude"] = 1.5 * np.sqrt((weight**2).sum(axis=1))
    assert made.tensors[f"{key}.lora.magnitude"].shape == (4,) and weight.shape == (4, 6)
    updated = weight + 2.0 * made.tensors[f"{key}.lora.b"] @ made.tensors[f"{key}.lora.a"]
    want = (made.tensors[f"{key}.lora.magnitude"] / np.sqrt((updated**2).sum(axis=1)))[:, None] * updated
    stored = place(made.adapter.base, open_checkpoint(tmp_path)).stored
    assert np.abs(merged(made.adapter, made.tensors, stored)[f"{key}.weight"] - want).max() <= 1e-6
    made.over.load_state_dict({name: torch.from_numpy(array) for name, array in made.tensors.items()})
    made.over.merge()
    assert np.abs(made.model.get_submodule(key).weight.detach().numpy() - want).max() <= 1e-6


def test_two_doras_on_one_layer(tmp_path: Path) -> None:
    """dora-two-adapters-same-layer, https://github.com/huggingface/peft/issues/3608: the length is the model's own weight's, each time"""
    body = "lora(rank: 2, alpha: 4, dora: true, targets: [ffn.up])"
    made = make(tmp_path, SQUARE, body)
    second = python(emit_adapter(resolved(tmp_path, SQUARE, body)), "generated_second").Adapter(made.model)
    second.load_state_dict({name: torch.from_numpy(-0.7 * array if "magnitude" not in name else array) for name, array in made.tensors.items()})
    up, x = made.model.layers[0].ffn.up, torch.randn(3, 4, 16)
    with torch.no_grad():
        beside = up(x)
        made.over.merge()
        second.merge()
        assert (up(x) - beside).abs().max() <= 1e-6 * beside.abs().max()


def test_a_prefix_has_the_heads_of_keys(tmp_path: Path) -> None:
    """prefix-tuning-gqa, https://github.com/huggingface/peft/issues/2881: width 20, 4 heads over 2, head width 8, 3 tokens: (3, 64)"""
    config = {
        "model_type": "qwen3", "vocab_size": 32, "hidden_size": 20, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
        "head_dim": 8, "intermediate_size": 24, "max_position_embeddings": 64, "tie_word_embeddings": False,
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    made = make(tmp_path, import_model(tmp_path / "config.json", "tiny").text, "prefix(length: 3)")
    method = made.adapter.methods[0]
    assert method.packed(sites(method, made.adapter.base), made.tensors)["prompt_embeddings"].shape == (3, 64)
    with torch.no_grad():
        assert made.model(torch.tensor([[1, 2]])).logits.shape == (1, 2, 32)


def test_a_prefix_lengthens_an_encoders_mask(tmp_path: Path) -> None:
    """prefix-changes-kv-length, https://github.com/huggingface/transformers/pull/41696: mask (1, 1, 5, 8), the first three visible"""
    text = SQUARE.replace("mask = causal", "mask = bidirectional").replace("head = lm(tied: false)", "head = hidden")
    made = make(tmp_path, text.replace("position = none", "position = none  embed = tokens() + learned_position()"), "prefix(length: 3)")
    seen, tables = [], []
    attention = made.model.layers[0].attention
    attention.register_forward_pre_hook(lambda module, args: seen.append(args[1]))
    made.model.embed_learned_position.register_forward_hook(lambda module, args, out: tables.append(args[0]))
    with torch.no_grad():
        made.model(torch.tensor([[1, 2, 3, 4, 5]]), attention_mask=torch.tensor([[1, 1, 1, 1, 0]]))
    assert seen[0].expand(1, 1, 5, -1).shape == (1, 1, 5, 8)
    assert seen[0][0, 0, -1].tolist() == [True, True, True, True, True, True, True, False]
    assert tables[0].flatten().tolist() == [0, 1, 2, 3, 4]


def test_a_scaled_result_takes_its_bias_along(tmp_path: Path) -> None:
    """ia3-bias-scaling, https://github.com/huggingface/peft/pull/972: W = I, b = 1, x = 1, l = 3: 6 and 3, or 4 and 1"""
    for body, result, bias in (("ia3(after: [ffn.down])", 6.0, 3.0), ("ia3(before: [ffn.down])", 4.0, 1.0)):
        made = make(tmp_path, SQUARE, body)
        down = made.model.layers[0].ffn.down
        filled(made, output=3, input=3)
        with torch.no_grad():
            down.weight.copy_(torch.eye(16))
            down.bias.fill_(1)
            assert torch.equal(down(torch.ones(1, 1, 16)), torch.full((1, 1, 16), result))
            made.over.merge()
            assert torch.equal(down(torch.ones(1, 1, 16)), torch.full((1, 1, 16), result))
            assert torch.equal(down.bias, torch.full((16,), bias))
