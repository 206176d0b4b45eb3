"""The oracle itself against published models: tiny, with weights drawn away from their initial values, renamed by hand."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from tests.components.probe import Draw
from tests.harness import LENGTH, draw, model_of
from tests.oracle.run import run
from tests.tolerance import distance

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")

LLAMA = """model llama {
  vocab = 40  dim = 16  depth = 3
  position = rope(theta: 500)  mask = causal  norm = rms(eps: 1e-5)
  attention = attention(heads: 4, kv_heads: 2, head_dim: 6)
  ffn = gated(hidden: 28, activation: silu)
  block = pre_norm  head = lm(tied: false)
}"""
GPT2 = """model gpt2 {
  vocab = 40  dim = 16  depth = 3  context = 20
  embed = tokens() + learned_position()
  mask = causal  norm = layer(eps: 1e-5)
  attention = attention(heads: 4, bias: true)
  ffn = mlp(hidden: 28, activation: gelu_tanh, bias: true)
  block = pre_norm  head = lm(tied: true)
}"""
BERT = """model bert {
  vocab = 40  dim = 16  depth = 3  context = 20
  embed = norm.embed(tokens() + learned_position() + segments(2))
  mask = bidirectional  norm = layer(eps: 1e-12)
  attention = attention(heads: 4, bias: true)
  ffn = mlp(hidden: 28, activation: gelu, bias: true)
  block = post_norm  head = mlm(tied: true, activation: gelu, norm: norm)
}"""
GEMMA2 = """model gemma2 {
  vocab = 40  dim = 16  depth = 4
  embed = tokens(scale: sqrt(dim))
  position = rope(theta: 500)  norm = rms(eps: 1e-6, offset: 1)
  attention = attention(heads: 4, kv_heads: 2, head_dim: 6, scale: 10 ** -0.5, softcap: 2)
  ffn = gated(hidden: 28, activation: gelu_tanh)
  block = sandwich_norm  head = lm(tied: true, softcap: 3)
  layer local { mask = sliding(4) }  layer global { mask = causal }
  layers = repeat [local, global]
}"""

SIZES: dict[str, Any] = {"vocab_size": 40, "hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 28}


def _llama(weights):
    config = transformers.LlamaConfig(
        **SIZES,
        num_hidden_layers=3,
        num_key_value_heads=2,
        head_dim=6,
        rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": 500.0},
    )
    names = {"embed_tokens": "model.embed_tokens", "final_norm": "model.norm", "head": "lm_head"}
    for i in range(3):
        names |= _decoder_layer(i, {"attention_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"})
    return transformers.LlamaForCausalLM(config), _renamed(weights, names)


def _gemma2(weights):
    config = transformers.Gemma2Config(
        **SIZES,
        num_hidden_layers=4,
        num_key_value_heads=2,
        head_dim=6,
        rms_norm_eps=1e-6,
        query_pre_attn_scalar=10,
        attn_logit_softcapping=2.0,
        final_logit_softcapping=3.0,
        sliding_window=4,
        layer_types=["sliding_attention", "full_attention"] * 2,
        rope_parameters={"rope_type": "default", "rope_theta": 500.0},
        attn_implementation="eager",
    )
    norms = {
        "attention_norm": "input_layernorm",
        "after_attention_norm": "post_attention_layernorm",
        "ffn_norm": "pre_feedforward_layernorm",
        "after_ffn_norm": "post_feedforward_layernorm",
    }
    names = {"embed_tokens": "model.embed_tokens", "final_norm": "model.norm"}
    for i in range(4):
        names |= _decoder_layer(i, norms)
    return transformers.Gemma2ForCausalLM(config), _renamed(weights, names)


def _decoder_layer(i: int, norms: dict[str, str]) -> dict[str, str]:
    names = {f"layers.{i}.{own}": f"model.layers.{i}.{theirs}" for own, theirs in norms.items()}
    names |= {f"layers.{i}.attention.{role}": f"model.layers.{i}.self_attn.{role}_proj" for role in "qkvo"}
    return names | {f"layers.{i}.ffn.{part}": f"model.layers.{i}.mlp.{part}_proj" for part in ("gate", "up", "down")}


def _gpt2(weights):
    config = transformers.GPT2Config(vocab_size=40, n_positions=20, n_embd=16, n_layer=3, n_head=4, n_inner=28)
    names = {"embed_tokens": "transformer.wte", "embed_learned_position": "transformer.wpe", "final_norm": "transformer.ln_f"}
    stored = {}
    for i in range(3):
        own, theirs = f"layers.{i}", f"transformer.h.{i}"
        names |= {f"{own}.attention_norm": f"{theirs}.ln_1", f"{own}.ffn_norm": f"{theirs}.ln_2"}
        for part in ("weight", "bias"):
            fused = np.concatenate([weights[f"{own}.attention.{role}.{part}"] for role in "qkv"])
            stored[f"{theirs}.attn.c_attn.{part}"] = fused.T  # Conv1D keeps [in, out]
            for mine, published in (("attention.o", "attn.c_proj"), ("ffn.up", "mlp.c_fc"), ("ffn.down", "mlp.c_proj")):
                stored[f"{theirs}.{published}.{part}"] = weights[f"{own}.{mine}.{part}"].T
    return transformers.GPT2LMHeadModel(config), _renamed(weights, names) | stored


def _bert(weights):
    config = transformers.BertConfig(**SIZES, num_hidden_layers=3, max_position_embeddings=20, type_vocab_size=2, layer_norm_eps=1e-12)
    embeddings = "bert.embeddings"
    names = {
        "embed_tokens": f"{embeddings}.word_embeddings",
        "embed_learned_position": f"{embeddings}.position_embeddings",
        "embed_segments": f"{embeddings}.token_type_embeddings",
        "embed_norm": f"{embeddings}.LayerNorm",
        "head.dense": "cls.predictions.transform.dense",
        "head.norm": "cls.predictions.transform.LayerNorm",
    }
    for i in range(3):
        own, theirs = f"layers.{i}", f"bert.encoder.layer.{i}"
        names |= {f"{own}.attention.{r}": f"{theirs}.attention.self.{name}" for r, name in (("q", "query"), ("k", "key"), ("v", "value"))}
        names |= {f"{own}.attention.o": f"{theirs}.attention.output.dense", f"{own}.attention_norm": f"{theirs}.attention.output.LayerNorm"}
        names |= {f"{own}.ffn.up": f"{theirs}.intermediate.dense", f"{own}.ffn.down": f"{theirs}.output.dense"}
        names |= {f"{own}.ffn_norm": f"{theirs}.output.LayerNorm"}
    return transformers.BertForMaskedLM(config), _renamed(weights, names) | {"cls.predictions.bias": weights["head.bias"]}


def _renamed(weights, names: dict[str, str]) -> dict[str, np.ndarray]:
    found = {}
    for key, value in weights.items():
        stem, _, part = key.rpartition(".")
        if stem in names:
            found[f"{names[stem]}.{part}"] = value
    return found


@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
@pytest.mark.parametrize(
    ("text", "build"), [(LLAMA, _llama), (GPT2, _gpt2), (BERT, _bert), (GEMMA2, _gemma2)], ids=["llama", "gpt2", "bert", "gemma2"]
)
def test_the_oracle_is_the_published_model(text: str, build, padded: bool):
    model = model_of(text)
    weights = draw(model, Draw())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference, renamed = build(weights)
    torch.set_num_threads(1)
    state = reference.state_dict()
    tied = {"lm_head.weight", "cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}
    assert set(state) - set(renamed) <= tied and set(renamed) <= set(state)
    reference.load_state_dict({name: torch.tensor(value) for name, value in renamed.items()}, strict=False)
    reference.tie_weights()
    reference.eval()

    rng = np.random.default_rng(3)
    inputs = {"input_ids": rng.integers(0, 40, (2, LENGTH)), "attention_mask": np.ones((2, LENGTH), np.int64)}
    if padded:
        inputs["attention_mask"][1, slice(0, 3) if model.stack.causal else slice(9, 12)] = 0
    given = dict(inputs)
    if model.stack.causal:
        given["position_ids"] = np.maximum(inputs["attention_mask"].cumsum(1) - 1, 0)
    else:
        inputs["token_type_ids"] = given["token_type_ids"] = rng.integers(0, 2, (2, LENGTH))
    with torch.no_grad():
        want = reference(**{name: torch.tensor(value) for name, value in given.items()}).logits.numpy()
    got = run(model, weights, inputs)["logits"]
    real = inputs["attention_mask"].astype(bool)  # what stands at padding is no part of the published model
    assert distance(got[real], want[real]) < 1e-5
