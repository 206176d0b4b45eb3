"""Norms, residual branches, multipliers, experts and routers: faults that other projects had, with the right numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases.values import answers, count, imported, imported_text, shapes

LLAMA = {
    "model_type": "llama", "vocab_size": 32, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 24, "max_position_embeddings": 64,
}  # fmt: skip


def norms(config: dict) -> set[str]:
    """What the norms of the first layer are called."""
    return {i.path for i in imported(config).stack.layers[0].instances if i.component.axis == "norm"}


# ---- norms


OPT = {
    "model_type": "opt", "vocab_size": 32, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "ffn_dim": 24,
    "max_position_embeddings": 16, "word_embed_proj_dim": 16,
}  # fmt: skip


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("removed", [{}, {"_remove_final_layer_norm": False}, {"_remove_final_layer_norm": True}])
def test_opt_has_a_final_norm_only_where_norms_come_first(before: bool, removed: dict) -> None:
    """opt-final-layer-norm, https://github.com/huggingface/transformers/pull/17785"""
    model = imported(OPT | {"do_layer_norm_before": before} | removed)
    assert (model.stack.final_norm is not None) is (before and not removed.get("_remove_final_layer_norm"))


def test_stacks_with_their_norms_last_have_no_final_norm() -> None:
    """opt-final-layer-norm, https://github.com/huggingface/transformers/pull/17785"""
    bert = {
        "model_type": "bert", "vocab_size": 32, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24,
    }  # fmt: skip
    assert imported(bert).stack.final_norm is None
    assert imported(LLAMA).stack.final_norm is not None


@pytest.mark.parametrize(
    ("given", "wanted", "rows"),
    [
        ({"new_decoder_architecture": False, "parallel_attn": True, "multi_query": True}, {"norm.shared"}, 24),
        ({"new_decoder_architecture": True, "num_kv_heads": 2}, {"norm.attention", "norm.ffn"}, 32),
        ({"new_decoder_architecture": False, "parallel_attn": False, "multi_query": False}, {"norm.attention", "norm.ffn"}, 48),
    ],
)
def test_falcon_s_three_forms(given: dict, wanted: set[str], rows: int) -> None:
    """falcon-norm-variants, https://github.com/NVIDIA/TransformerEngine/issues/625: norms, and rows of the fused projection"""
    config = {"model_type": "falcon", "vocab_size": 32, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 4} | given
    assert norms(config) == wanted
    found = shapes(config)
    assert sum(found[f"layers.0.attention.{part}.weight"][0] for part in "qkv") == rows


def test_falcon_s_norms_are_the_published_tensors() -> None:
    """falcon-norm-variants, https://github.com/NVIDIA/TransformerEngine/issues/625"""
    config = {"model_type": "falcon", "vocab_size": 32, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 4}
    grouped = imported_text(config | {"new_decoder_architecture": True, "num_kv_heads": 2})
    assert ("ln_attn" in grouped, "ln_mlp" in grouped, "input_layernorm" in grouped) == (True, True, False)
    plain = imported_text(config)
    assert ("ln_attn" in plain, "input_layernorm" in plain, "post_attention_layernorm" in plain) == (False, True, False)
    serial = imported_text(config | {"parallel_attn": False})
    assert ("input_layernorm" in serial, "post_attention_layernorm" in serial) == (True, True)


@pytest.mark.parametrize(("parallel", "right"), [(True, [3.0, 3.0]), (False, [1.0, 1.0])])
def test_branches_side_by_side_or_one_after_the_other(parallel: bool, right: list[float]) -> None:
    """parallel-residual-flag, https://github.com/TransformerLensOrg/TransformerLens/issues/1644

    The attention adds 1 to a token of 1, and the network answers with relu(x): beside it 1, after it 2; its sign makes them differ.
    """
    block = "parallel" if parallel else "serial"
    text = f"""model probe {{
      vocab = 2  dim = 2  depth = 1  position = none  mask = causal
      attention = attention(heads: 1, bias: [o])  ffn = mlp(hidden: 2, activation: relu)  block = {block}  head = hidden
    }}
    block parallel(x) {{ final_norm = none  x = x + attention(x) + ffn(x) }}
    block serial(x) {{ final_norm = none  x = x + attention(x)  x = ffn(x) + -0.5 * x }}"""
    weights = {
        "embed_tokens.weight": 1, "layers.0.attention.o.bias": 1, "layers.0.ffn.up.weight": np.eye(2), "layers.0.ffn.down.weight": np.eye(2),
    }  # fmt: skip
    for answer in answers(text, weights, [[0]]).values():
        assert answer.out[0, 0].tolist() == right


def test_gpt_neox_reads_its_flag() -> None:
    """parallel-residual-flag, https://github.com/TransformerLensOrg/TransformerLens/issues/1644"""
    config = {
        "model_type": "gpt_neox", "vocab_size": 32, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24,
    }  # fmt: skip
    beside = [len(imported(config | {"use_parallel_residual": flag}).stack.layers[0].block.body) for flag in (True, False)]
    assert beside == [1, 2]


@pytest.mark.parametrize(
    ("kind", "field"),
    [("llama", "rms_norm_eps"), ("gpt2", "layer_norm_epsilon"), ("bert", "layer_norm_eps"), ("starcoder2", "norm_epsilon"),
     ("gpt_neox", "layer_norm_eps"), ("falcon", "layer_norm_epsilon"), ("nemotron", "norm_eps")],
)  # fmt: skip
def test_every_norm_has_the_config_s_eps(kind: str, field: str) -> None:
    """norm-eps-default, https://github.com/keras-team/keras-hub/issues/642"""
    config = LLAMA | {"model_type": kind, field: 3e-4}
    if kind == "gpt2":
        config = {"model_type": kind, "vocab_size": 32, "n_embd": 16, "n_layer": 1, "n_head": 2, field: 3e-4}
    if kind == "gpt_neox":
        config = config | {"rotary_pct": 0.5}
    if kind in ("bert", "gpt_neox", "falcon"):
        config = {n: v for n, v in config.items() if n != "num_key_value_heads"}
    if kind == "falcon":
        config = {n: v for n, v in config.items() if n != "intermediate_size"}
    stack = imported(config).stack
    found = [i.component.eps for layer in stack.layers for i in layer.instances if i.component.axis == "norm"]
    found += [i.component.eps for i in stack.embedding.instances if i.component.axis == "norm"]
    found += [stack.final_norm.eps] if stack.final_norm else []
    assert set(found) == {3e-4}


@pytest.mark.parametrize(("eps", "factor"), [(1e-12, 1.0), (1e-5, 3.3166)])
def test_the_eps_counts(eps: float, factor: float) -> None:
    """norm-eps-default, https://github.com/keras-team/keras-hub/issues/642: a row of variance 1e-6"""
    text = f"""model probe {{
      vocab = 2  dim = 2  depth = 1  position = none  mask = causal  attention = attention(heads: 1)  block = bare  head = hidden
      norm = layer(eps: {eps})
    }}
    block bare(x) {{ final_norm = norm  x = x + attention(x) }}"""
    for answer in answers(text, {"embed_tokens.weight": [[1e-3, -1e-3], [0, 0]], "final_norm.weight": 1}, [[0]]).values():
        assert answer.out[0, 0] == pytest.approx([1 / factor, -1 / factor], rel=1e-4)


# ---- multipliers


GRANITE = LLAMA | {"model_type": "granite"}


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("embedding_multiplier", "tokens(scale: 2.0)"),
        ("attention_multiplier", "scale: 2.0"),
        ("residual_multiplier", "residual = 2.0"),
        ("logits_scaling", "scale: 0.5"),
    ],
)
def test_each_of_granite_s_multipliers_is_taken_over(field: str, words: str) -> None:
    """granite-four-multipliers, https://github.com/OpenNMT/CTranslate2/pull/1882"""
    assert words in " ".join(imported_text(GRANITE | {field: 2.0}).split())
    assert words not in " ".join(imported_text(GRANITE).split())


def test_granite_s_attention_multiplier_stands_for_the_root() -> None:
    """granite-four-multipliers, https://github.com/OpenNMT/CTranslate2/pull/1882"""
    layer = imported(GRANITE | {"attention_multiplier": 0.0078125}).stack.layers[0]
    assert layer.instance("attention").component.scale == 0.0078125


def test_the_residual_multiplier_scales_both_branches() -> None:
    """granite-four-multipliers, https://github.com/OpenNMT/CTranslate2/pull/1882"""
    sums = [assign.value for assign in imported(GRANITE | {"residual_multiplier": 0.22}).stack.layers[0].block.body]
    assert [[term.factor for term in total.terms if term.op == "scale"] for total in sums] == [[0.22], [0.22]]


@pytest.mark.parametrize(("kind", "wanted"), [("gemma", "gelu_tanh"), ("llama", "gelu")])
def test_gelu_means_its_tanh_form_in_gemma_alone(kind: str, wanted: str) -> None:
    """gemma-legacy-hidden-act-gelu, https://github.com/NVIDIA-NeMo/Megatron-Bridge/pull/4661"""
    layer = imported(LLAMA | {"model_type": kind, "hidden_act": "gelu", "head_dim": 4}).stack.layers[0]
    assert layer.instance("ffn").component.activation.kind == wanted


@pytest.mark.parametrize(("kind", "wanted"), [("gelu", 0.8413447), ("gelu_tanh", 0.8411920)])
def test_the_two_gelus_at_one(kind: str, wanted: float) -> None:
    """gemma-legacy-hidden-act-gelu, https://github.com/NVIDIA-NeMo/Megatron-Bridge/pull/4661"""
    text = f"""model probe {{
      vocab = 1  dim = 1  depth = 1  position = none  mask = causal  attention = attention(heads: 1)
      ffn = mlp(hidden: 1, activation: {kind})  block = bare  head = hidden
    }}
    block bare(x) {{ final_norm = none  x = x + attention(x)  x = ffn(x) }}"""
    weights = {"embed_tokens.weight": 1, "layers.0.ffn.up.weight": 1, "layers.0.ffn.down.weight": 1}
    for answer in answers(text, weights, [[0]]).values():
        assert answer.out[0, 0, 0] == pytest.approx(wanted, abs=1e-6)


# ---- experts


def chosen(router: str, logits: list[float], **more: object) -> dict[str, np.ndarray]:
    """The weight of each of four experts: expert number e answers with the e-th unit vector."""
    text = f"""model probe {{
      vocab = 1  dim = 4  depth = 1  position = none  mask = causal  attention = attention(heads: 1)
      ffn = moe(experts: 4, top_k: 2, router: {router}, expert: mlp(hidden: 1, activation: relu))  block = bare  head = hidden
    }}
    block bare(x) {{ final_norm = none  x = x + attention(x)  x = ffn(x) }}"""
    weights: dict[str, object] = {"embed_tokens.weight": [[1, 0, 0, 0]], "layers.0.ffn.router.weight": [[n, 0, 0, 0] for n in logits]}
    for e in range(4):
        weights[f"layers.0.ffn.experts.{e}.up.weight"] = [[1, 0, 0, 0]]
        weights[f"layers.0.ffn.experts.{e}.down.weight"] = np.eye(4)[:, e : e + 1]
    found = answers(text, weights | more, [[0]])
    return {name: answer.out[0, 0] for name, answer in found.items()}


@pytest.mark.parametrize(
    ("router", "right"),
    [
        ("softmax(order: top_k_first)", [0.7310586, 0.2689414, 0, 0]),
        ("softmax(order: softmax_first, normalize: true)", [0.7310586, 0.2689414, 0, 0]),
        ("softmax(order: softmax_first)", [0.6439143, 0.2368828, 0, 0]),
    ],
)
def test_weights_of_the_chosen_experts(router: str, right: list[float]) -> None:
    """moe-topk-normalisation, https://github.com/pytorch/torchtitan/issues/1448"""
    for found in chosen(router, [2, 1, 0, -1]).values():
        assert found == pytest.approx(right, abs=1e-6)


@pytest.mark.parametrize(("kind", "normalised"), [("mixtral", True), ("qwen3_moe", False), ("qwen2_moe", False), ("olmoe", False)])
def test_families_normalise_as_their_configs_say(kind: str, normalised: bool) -> None:
    """moe-topk-normalisation, https://github.com/pytorch/torchtitan/issues/1448: the libraries' defaults, and norm_topk_prob"""
    experts = {"num_local_experts": 4} if kind == "mixtral" else {"num_experts": 4, "moe_intermediate_size": 8}
    if kind == "olmoe":
        experts.pop("moe_intermediate_size")
    config = LLAMA | {"model_type": kind, "num_experts_per_tok": 2} | experts

    def sums_to_one(config: dict) -> bool:
        router = imported(config).stack.layers[0].instance("ffn").component.router
        return router.normalize or router.order == "top_k_first"

    assert sums_to_one(config) is normalised
    if kind != "mixtral":
        assert sums_to_one(config | {"norm_topk_prob": True})


def test_a_group_that_drops_out_cannot_win() -> None:
    """dsv3-group-mask-negative, https://github.com/vllm-project/vllm/pull/13474: every biased score is negative"""
    router = "sigmoid(bias_correction: true, groups: 2, top_groups: 1, group_score: top_2_sum, normalize: true, normalize_eps: 1e-20, scale: 2.5)"
    found = chosen(router, [0, 1, 2, 2], **{"layers.0.ffn.router.correction": [-5, -5, -6, -6]})
    for weights in found.values():
        assert weights == pytest.approx([1.0153863, 1.4846137, 0, 0], abs=1e-6)


@pytest.mark.parametrize("gate", [-1.0, 0.0, 2.0])
def test_the_shared_expert_goes_through_its_gate(gate: float) -> None:
    """shared-expert-gate, https://github.com/NousResearch/torchtitan/pull/36: sigmoid(gate(x)) * shared(x)"""
    text = """model probe {
      vocab = 1  dim = 1  depth = 1  position = none  mask = causal  attention = attention(heads: 1)
      ffn = moe(experts: 2, top_k: 1, router: softmax(order: softmax_first), expert: mlp(hidden: 1, activation: relu),
                shared: mlp(hidden: 1, activation: relu), shared_gate: true)
      block = bare  head = hidden
    }
    block bare(x) { final_norm = none  x = x + attention(x)  x = ffn(x) }"""
    weights = {
        "embed_tokens.weight": 1, "layers.0.ffn.shared.up.weight": 3, "layers.0.ffn.shared.down.weight": 1, "layers.0.ffn.shared_gate.weight": gate,
    }  # fmt: skip
    for answer in answers(text, weights, [[0]]).values():
        assert answer.out[0, 0, 0] == pytest.approx(3 / (1 + np.exp(-gate)), rel=1e-6)


def test_shared_experts_have_their_family_s_shapes() -> None:
    """shared-expert-gate, https://github.com/NousResearch/torchtitan/pull/36"""
    config = LLAMA | {"model_type": "qwen2_moe", "hidden_size": 8, "num_attention_heads": 2, "num_experts": 2, "num_experts_per_tok": 1}
    found = shapes(config | {"moe_intermediate_size": 4, "shared_expert_intermediate_size": 12})
    wanted = {"shared.gate": (12, 8), "shared.up": (12, 8), "shared.down": (8, 12), "shared_gate": (1, 8)}
    assert {part: found[f"layers.0.ffn.{part}.weight"] for part in wanted} == wanted
    config = {
        "model_type": "deepseek_v3", "vocab_size": 32, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "q_lora_rank": 4,
        "intermediate_size": 24, "kv_lora_rank": 4, "qk_nope_head_dim": 4, "qk_rope_head_dim": 4, "v_head_dim": 4, "n_routed_experts": 2,
        "num_experts_per_tok": 1, "n_group": 1, "topk_group": 1, "first_k_dense_replace": 0, "n_shared_experts": 2, "moe_intermediate_size": 4,
    }  # fmt: skip
    found = shapes(config)
    assert found["layers.0.ffn.shared.up.weight"] == (8, 8)
    assert "layers.0.ffn.shared_gate.weight" not in found


# ---- parameters


QWEN3_4B = {
    "model_type": "qwen3", "vocab_size": 151_936, "hidden_size": 2560, "intermediate_size": 9728, "num_hidden_layers": 36,
    "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "tie_word_embeddings": True,
}  # fmt: skip
LLAMA_1B = {
    "model_type": "llama", "vocab_size": 128_256, "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16,
    "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64, "tie_word_embeddings": True,
}  # fmt: skip
MISTRAL_7B = {
    "model_type": "mistral", "vocab_size": 32_000, "hidden_size": 4096, "intermediate_size": 14_336, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "sliding_window": 4096,
}  # fmt: skip


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        ({"model_type": "gpt2", "vocab_size": 50_257, "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024}, 124_439_808),
        ({"model_type": "bert", "vocab_size": 30_522, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
          "intermediate_size": 3072, "max_position_embeddings": 512, "type_vocab_size": 2}, 109_482_240),
        (LLAMA_1B, 1_235_814_400),
        (LLAMA_1B | {"tie_word_embeddings": False}, 1_498_482_688),
        ({"model_type": "qwen2", "vocab_size": 151_936, "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24,
          "num_attention_heads": 14, "num_key_value_heads": 2, "tie_word_embeddings": True}, 494_032_768),
        (QWEN3_4B, 4_022_468_096),
        (MISTRAL_7B, 7_241_732_096),
        ({"model_type": "mixtral", "vocab_size": 32_000, "hidden_size": 4096, "intermediate_size": 14_336, "num_hidden_layers": 32,
          "num_attention_heads": 32, "num_key_value_heads": 8, "num_local_experts": 8, "num_experts_per_tok": 2}, 46_702_792_704),
        ({"model_type": "gemma2", "vocab_size": 256_000, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
          "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256}, 2_614_341_888),
        ({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "vocab_size": 32_128, "d_model": 512, "d_kv": 64, "d_ff": 2048,
          "num_layers": 6, "num_heads": 8, "decoder_start_token_id": 0}, 60_506_624),
        ({"model_type": "vit", "architectures": ["ViTModel"], "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
          "intermediate_size": 3072, "image_size": 224, "patch_size": 16}, 86_389_248),
    ],
    ids=["gpt2", "bert-base", "llama-3.2-1b", "llama-3.2-1b-untied", "qwen2.5-0.5b", "qwen3-4b", "mistral-7b", "mixtral-8x7b", "gemma2-2b",
         "t5-small", "vit-base"],
)  # fmt: skip
def test_parameters_of_published_models(config: dict, wanted: int) -> None:
    """parameter-budget-anchors, https://github.com/pytorch/torchtitan/pull/919: a tied head once"""
    assert count(config) == wanted


def test_the_projections_of_qwen3_4b() -> None:
    """head-dim-not-hidden-over-heads, https://github.com/paiml/entrenar/issues/262"""
    found = shapes(QWEN3_4B)
    wanted = {"q": (4096, 2560), "k": (1024, 2560), "v": (1024, 2560), "o": (2560, 4096)}
    assert {part: found[f"layers.0.attention.{part}.weight"] for part in wanted} == wanted
