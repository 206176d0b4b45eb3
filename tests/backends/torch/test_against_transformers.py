"""The printed file against transformers: the same weights, the same numbers."""

from __future__ import annotations

import pytest
import torch

from specc.backends.torch.emit import emit
from tests.backends.torch.models import model, python

transformers = pytest.importorskip("transformers")

LLAMA = """
    vocab = 97  dim = 48  depth = 3  context = 64
    position = rope(theta: 10_000)  mask = causal  norm = rms(eps: 1e-5)
    attention = attention(heads: 6, kv_heads: 2)  ffn = gated(hidden: 80, activation: silu)
    block = pre_norm  head = lm(tied: false)
"""
GEMMA2 = """
    vocab = 97  dim = 48  depth = 4  context = 64
    embed = tokens(scale: sqrt(dim))  norm = rms(eps: 1e-6, offset: 1)  position = rope(theta: 10_000)
    attention = attention(heads: 4, kv_heads: 2, head_dim: 16, scale: 24 ** -0.5, softcap: 5)
    ffn = gated(hidden: 64, activation: gelu_tanh)  block = sandwich_norm  head = lm(tied: true, softcap: 3)
    layer local { mask = sliding(3) }  layer global { mask = causal }  layers = repeat [local, global]
"""
LINEAR = {
    "attention.q": "self_attn.q_proj",
    "attention.k": "self_attn.k_proj",
    "attention.v": "self_attn.v_proj",
    "attention.o": "self_attn.o_proj",
}
LINEAR |= {"ffn.gate": "mlp.gate_proj", "ffn.up": "mlp.up_proj", "ffn.down": "mlp.down_proj"}
NORMS = {
    "llama": {"attention_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"},
    "gemma2": {
        "attention_norm": "input_layernorm",
        "after_attention_norm": "post_attention_layernorm",
        "ffn_norm": "pre_feedforward_layernorm",
        "after_ffn_norm": "post_feedforward_layernorm",
    },
}


def reference(family: str, dtype: torch.dtype = torch.float32):
    """The published class with random weights, its norms too."""
    sizes = {"vocab_size": 97, "hidden_size": 48, "max_position_embeddings": 64, "attn_implementation": "eager", "pad_token_id": None}
    if family == "llama":
        config = transformers.LlamaConfig(
            **sizes, intermediate_size=80, num_hidden_layers=3, num_attention_heads=6, num_key_value_heads=2, rms_norm_eps=1e-5
        )
        made = transformers.LlamaForCausalLM(config)
    else:
        config = transformers.Gemma2Config(
            **sizes, intermediate_size=64, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, head_dim=16, query_pre_attn_scalar=24,
            sliding_window=3, attn_logit_softcapping=5.0, final_logit_softcapping=3.0, rms_norm_eps=1e-6,
        )  # fmt: skip
        made = transformers.Gemma2ForCausalLM(config)
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return made.to(dtype).eval()


def ours(family: str, theirs):
    """The printed model under the published weights, mapped by hand."""
    made = python(emit(model(LLAMA if family == "llama" else GEMMA2, family))).Model()
    state = theirs.state_dict()
    weights = {"embed_tokens.weight": state["model.embed_tokens.weight"], "final_norm.weight": state["model.norm.weight"]}
    if family == "llama":
        weights["head.weight"] = state["lm_head.weight"]
    for i in range(theirs.config.num_hidden_layers):
        for own, published in (LINEAR | NORMS[family]).items():
            weights[f"layers.{i}.{own}.weight"] = state[f"model.layers.{i}.{published}.weight"]
    made.load_state_dict(weights, assign=True)
    return made.eval()


def relative(got: torch.Tensor, want: torch.Tensor) -> float:
    return ((got - want).abs().max() / want.abs().max()).item()


@pytest.mark.parametrize("family", ["llama", "gemma2"])
def test_the_numbers_are_those_of_transformers(family: str):
    theirs = reference(family)
    made, ids = ours(family, theirs), torch.randint(0, 97, (2, 11))
    mask = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1], [1] * 11])
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    with torch.no_grad():
        assert relative(made(ids).logits, theirs(ids).logits) <= 2e-5
        got, want = made(ids, mask).logits, theirs(ids, attention_mask=mask, position_ids=positions).logits
        assert relative(got[mask.bool()], want[mask.bool()]) <= 2e-5


@pytest.mark.parametrize("family", ["llama", "gemma2"])
def test_bfloat16_is_as_near_to_full_precision_as_in_transformers(family: str):
    exact, theirs = reference(family), reference(family, torch.bfloat16)
    made, ids = ours(family, theirs), torch.randint(0, 97, (2, 11))
    with torch.no_grad():
        want = exact(ids).logits
        assert relative(made(ids).logits.float(), want) <= 1.5 * relative(theirs(ids).logits.float(), want)


def test_gemma_rounds_its_embedding_scale_first():
    """sqrt(48) is 6.9282, and 6.9375 in bfloat16: what comes out of the embedding is equal bit for bit."""
    theirs = reference("gemma2", torch.bfloat16)
    spec = GEMMA2.replace("sqrt(dim)", "sqrt(dim), round_scale: true")
    made, ids = python(emit(model(spec, "gemma2"))).Model(), torch.randint(0, 97, (2, 11))
    made.to(torch.bfloat16).embed_tokens.weight.data = theirs.state_dict()["model.embed_tokens.weight"]
    seen = []
    made.layers[0].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    with torch.no_grad():
        made(ids)
        assert torch.equal(seen[0], theirs.model.embed_tokens(ids))
        assert not torch.equal(seen[0], 48**0.5 * made.embed_tokens(ids))
