"""Checkpoints in specc's own layout and in published ones: loaded exactly, or refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from specc.backends.torch.emit import emit
from tests.backends.torch.models import model, python

BODY = """
    vocab = 13  dim = 8  depth = 3  context = 16
    embed = tokens() + learned_position()  norm = layer(eps: 1e-5)  mask = causal
    attention = attention(heads: 4, kv_heads: KV, bias: true)
    ffn = gated(hidden: 12, activation: silu, bias: true)  block = pre_norm  head = lm(tied: true)
    weights hf {
      root   = "transformer." | ""
      ignore = ["h.{i}.attn.bias", "rotary*"]
      embed.tokens             = "wte" | "/lm_head"
      embed.learned_position   = "wpe"
      final_norm.weight        = "ln_f.weight" | "ln_f.gamma"
      final_norm.bias          = "ln_f.bias" | "ln_f.beta"
      layers[n].norm.attention = "h.{n}.ln_1"
      layers[n].norm.ffn       = "h.{n}.ln_2"
      layers[n].attention.qkv  = fused(QKV, order: [q, k, v], groups: GROUPS)
      layers[n].attention.o    = transpose("h.{n}.attn.c_proj")
      layers[n].ffn.gate_up    = fused("h.{n}.mlp.gate_up", order: [up, gate])
      layers[n].ffn.down       = "h.{n}.mlp.down"
    }
"""
FORMS = {
    "gpt2": {"KV": "4", "QKV": 'transpose("h.{n}.attn.c_attn")', "GROUPS": "1"},
    "phi3": {"KV": "2", "QKV": '"h.{n}.attn.c_attn"', "GROUPS": "1"},
    "falcon": {"KV": "2", "QKV": '"h.{n}.attn.c_attn"', "GROUPS": "2"},
}


def compiled(form: str, body: str = BODY):
    for word, text in FORMS[form].items():
        body = body.replace(word, text) if word != "KV" else body.replace("kv_heads: KV", f"kv_heads: {text}")
    return python(emit(model(body, f"from_{form}")), f"from_{form}")


def stored(form: str, state: dict[str, torch.Tensor], root: str) -> dict[str, torch.Tensor]:
    """A checkpoint as the family would publish it, written out by hand."""
    groups = int(FORMS[form]["GROUPS"])
    found = {f"{root}wte.weight": state["embed_tokens.weight"], f"{root}wpe.weight": state["embed_learned_position.weight"]}
    found |= {f"{root}ln_f.gamma": state["final_norm.weight"], f"{root}ln_f.beta": state["final_norm.bias"]}
    for i in range(3):
        for end in ("weight", "bias"):
            own = {part: state[f"layers.{i}.attention.{part}.{end}"] for part in "qkvo"}
            rows = []
            for g in range(groups):
                for part in "qkv":
                    share = len(own[part]) // groups
                    rows.append(own[part][g * share : (g + 1) * share])
            fused = torch.cat(rows)
            turn = (lambda x: x.T) if end == "weight" else (lambda x: x)
            found[f"{root}h.{i}.attn.c_attn.{end}"] = turn(fused) if form == "gpt2" else fused
            found[f"{root}h.{i}.attn.c_proj.{end}"] = turn(own["o"])
            found[f"{root}h.{i}.mlp.gate_up.{end}"] = torch.cat([state[f"layers.{i}.ffn.{p}.{end}"] for p in ("up", "gate")])
            found[f"{root}h.{i}.mlp.down.{end}"] = state[f"layers.{i}.ffn.down.{end}"]
            found[f"{root}h.{i}.ln_1.{end}"] = state[f"layers.{i}.attention_norm.{end}"]
            found[f"{root}h.{i}.ln_2.{end}"] = state[f"layers.{i}.ffn_norm.{end}"]
        found[f"{root}h.{i}.attn.bias"] = torch.ones(1)
    return {name: tensor.contiguous() for name, tensor in found.items()}


@pytest.fixture(params=FORMS)
def case(request):
    """A form, its module and random weights under specc's names."""
    module = compiled(request.param)
    state = {key: torch.randn(value.shape) for key, value in module.Model().state_dict().items()}
    return request.param, module, state


def loads(module, folder: Path, state: dict[str, torch.Tensor]) -> None:
    loaded = module.Model.from_checkpoint(folder).state_dict()
    assert all(torch.equal(loaded[key], value) for key, value in state.items())
    assert all(value.is_contiguous() for value in loaded.values())


@pytest.mark.parametrize("root", ["transformer.", ""])
def test_a_published_checkpoint_is_loaded(case, tmp_path: Path, root: str):
    form, module, state = case
    save_file(stored(form, state, root), tmp_path / "model.safetensors")
    loads(module, tmp_path, state)


def test_the_own_layout_is_loaded_and_keeps_its_type(case, tmp_path: Path):
    _, module, state = case
    save_file({key: value.bfloat16() for key, value in state.items()}, tmp_path / "weights.safetensors")
    loaded = module.Model.from_checkpoint(tmp_path)
    assert {p.dtype for p in loaded.parameters()} == {torch.bfloat16}
    assert all(p.requires_grad and p.device.type == "cpu" for p in loaded.parameters())


def test_a_copy_must_be_equal(case, tmp_path: Path):
    form, module, state = case
    tensors = stored(form, state, "transformer.") | {"lm_head.weight": state["embed_tokens.weight"].clone()}
    save_file(tensors, tmp_path / "model.safetensors")
    loads(module, tmp_path, state)
    tensors["lm_head.weight"][0, 0] += 1
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="lm_head.weight differs from transformer.wte.weight"):
        module.Model.from_checkpoint(tmp_path)


def test_what_is_missing_or_left_over_is_named(case, tmp_path: Path):
    form, module, state = case
    tensors = stored(form, state, "transformer.")
    for name in ("transformer.h.1.mlp.down.bias", "transformer.wpe.weight"):
        save_file({key: value for key, value in tensors.items() if key != name}, tmp_path / "model.safetensors")
        with pytest.raises(KeyError, match=name.removeprefix("transformer.")):
            module.Model.from_checkpoint(tmp_path)
    save_file(tensors | {"transformer.h.0.extra": torch.ones(1)}, tmp_path / "model.safetensors")
    with pytest.raises(KeyError, match="transformer.h.0.extra"):
        module.Model.from_checkpoint(tmp_path)


def test_what_is_missing_or_left_over_in_the_own_layout_is_named(case, tmp_path: Path):
    _, module, state = case
    save_file(state | {"more": torch.ones(1)}, tmp_path / "model.safetensors")
    with pytest.raises(KeyError, match="more"):
        module.Model.from_checkpoint(tmp_path)
    state.pop("layers.2.ffn.up.bias")
    save_file(state, tmp_path / "model.safetensors")
    with pytest.raises(KeyError, match=r"layers\.2\.ffn\.up\.bias"):
        module.Model.from_checkpoint(tmp_path)


def test_the_files_of_an_index_are_read_and_no_others(case, tmp_path: Path):
    form, module, state = case
    tensors = stored(form, state, "")
    names = sorted(tensors)
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, held in parts.items():
        save_file({name: tensors[name] for name in held}, tmp_path / file)
    save_file({"stray": torch.ones(1)}, tmp_path / "c.safetensors")
    index = {name: file for file, held in parts.items() for name in held}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    loads(module, tmp_path, state)
    index[names[0]] = "../a.safetensors"
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    with pytest.raises(ValueError, match="plain file name"):
        module.Model.from_checkpoint(tmp_path)


def test_the_first_of_several_layouts_that_fits_is_taken(tmp_path: Path):
    other = 'weights other { embed.tokens = "tok" embed.learned_position = "pos" final_norm = "end" ' + "".join(
        f'layers[i].{own} = "b.{{i}}.{own}" '
        for own in (
            "norm.attention",
            "norm.ffn",
            "attention.q",
            "attention.k",
            "attention.v",
            "attention.o",
            "ffn.gate",
            "ffn.up",
            "ffn.down",
        )
    )
    module = compiled("phi3", BODY + other + "}")
    state = {key: torch.randn(value.shape) for key, value in module.Model().state_dict().items()}
    save_file(stored("phi3", state, ""), tmp_path / "model.safetensors")
    loads(module, tmp_path, state)
    renamed = {
        "embed_tokens.": "tok.",
        "embed_learned_position.": "pos.",
        "final_norm.": "end.",
        "attention_norm": "norm.attention",
        "ffn_norm": "norm.ffn",
        "layers.": "b.",
    }
    tensors = {}
    for key, value in state.items():
        for old, new in renamed.items():
            key = key.replace(old, new)
        tensors[key] = value
    save_file(tensors, tmp_path / "model.safetensors")
    loads(module, tmp_path, state)
    tensors.pop("tok.weight")
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(KeyError, match="tok.weight"):
        module.Model.from_checkpoint(tmp_path)


def test_a_layer_that_lacks_a_part_asks_for_none_of_it(tmp_path: Path):
    body = """
        vocab = 13  dim = 8  depth = 5  mask = causal  norm = rms(eps: 1e-5)  attention = attention(heads: 2)
        ffn = mlp(hidden: 12, activation: relu)  block = pre_norm  head = lm(tied: true)
        layer bare { norm.attention = none }  layer full { attention = attention(heads: 2, bias: [q]) }
        layers = repeat [bare, full]
        weights hf {
          embed.tokens = "e"  final_norm = "n"
          layers[i].norm.attention = "{i}.a"  layers[i].norm.ffn = "{i}.f"  layers[i].attention.q = "{i}.q"
          layers[i].attention.kv = fused("{i}.kv", order: [k, v])  layers[i].attention.o = "{i}.o"
          layers[i].ffn.up = "{i}.u"  layers[i].ffn.down = "{i}.d"
        }
    """
    text = emit(model(body, "uneven"))
    module = python(text, "uneven")
    assert "range(0, 5, 2)" in text and "range(1, 4, 2)" in text
    state = {key: torch.randn(value.shape) for key, value in module.Model().state_dict().items()}
    short = {
        "embed_tokens": "e",
        "final_norm": "n",
        "attention_norm": "a",
        "ffn_norm": "f",
        "attention.q": "q",
        "attention.o": "o",
        "ffn.up": "u",
        "ffn.down": "d",
    }
    tensors = {}
    for key, value in state.items():
        name = key.removeprefix("layers.")
        for own, letter in short.items():
            name = name.replace(own, letter)
        tensors[name] = value
    for i in range(5):
        tensors[f"{i}.kv.weight"] = torch.cat([tensors.pop(f"{i}.attention.{p}.weight") for p in "kv"])
    save_file(tensors, tmp_path / "model.safetensors")
    loads(module, tmp_path, state)
