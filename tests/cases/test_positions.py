"""Rotary positions, their scalings, linear biases and offsets: faults that other projects had, with the right numbers.

The rotated keys are read from the cache: the projection gives the same key for every token, and position does the rest.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from specc.components.position.alibi import slopes
from specc.diagnostics import SpecError
from specc.ir.fingerprint import fingerprint
from specc.weights.checkpoint import open_checkpoint
from specc.weights.convert import to_own, to_published
from tests.cases.values import Answer, answers, family_model, imported, refusal, shapes
from tests.harness import draw, model_of, run_onnx, run_torch

TURNED = """model probe {
  vocab = 8  dim = 8  depth = 2  context = 16  position = rope(theta: 100, layout: LAYOUT)  mask = causal  norm = rms(eps: 1e-5)
  attention = attention(heads: 2, kv_heads: 1, bias: true)  ffn = mlp(hidden: 6, activation: relu)  block = pre_norm  head = lm(tied: false)
  weights hf {
    embed.tokens = "wte"  final_norm = "ln_f"  head = "lm_head"
    layers[i].norm.attention = "h.{i}.ln_1"  layers[i].norm.ffn = "h.{i}.ln_2"
    layers[i].attention.qkv = fused("h.{i}.qkv", order: [q, k, v])  layers[i].attention.o = "h.{i}.o"
    layers[i].ffn.up = "h.{i}.up"  layers[i].ffn.down = "h.{i}.down"
  }
}"""
BACK_ENDS = ("torch", "onnx")
LLAMA = {
    "model_type": "llama", "vocab_size": 32, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 96, "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
}  # fmt: skip


def keys(position: str, width: int, key: list[float], length: int, pieces: list[int] | None = None) -> dict[str, np.ndarray]:
    """[S, D]: one key, turned by the positions 0, 1, 2 ..., in both back ends."""
    text = f"""model probe {{
      vocab = 4  dim = {width}  depth = 1  context = 64  position = {position}  mask = causal
      attention = attention(heads: 1, bias: [k])  block = bare  head = hidden
    }}
    block bare(x) {{ final_norm = none  x = x + attention(x) }}"""
    found = answers(text, {"layers.0.attention.k.bias": key}, [[0] * length], pieces=pieces)
    return {name: answer.key[0, 0] for name, answer in found.items()}


def speeds(found: np.ndarray) -> np.ndarray:
    """Angle per position of each pair, from the second row of keys whose first half was 1 and second half 0."""
    half = found.shape[1] // 2
    return np.arctan2(found[1, half:], found[1, :half])


@pytest.mark.parametrize(
    ("layout", "right"),
    [("half", [-1.98411, 1.95990, 2.46238, 4.01980]), ("interleaved", [-1.14264, 1.92208, 2.95985, 4.02980])],
)
def test_half_and_interleaved_turn_different_pairs(layout: str, right: list[float]) -> None:
    """rope-half-vs-interleaved, https://github.com/ooples/AiDotNet/pull/2074"""
    for found in keys(f"rope(theta: 10_000, layout: {layout})", 4, [1, 2, 3, 4], 2).values():
        assert found[1] == pytest.approx(right, abs=1e-5)


def test_a_part_of_the_head_turns_at_its_own_width() -> None:
    """partial-rotary-inv-freq-width, https://github.com/huggingface/transformers/pull/48652"""
    for found in keys("rope(theta: 10_000, partial: 4)", 8, [1, 1, 0, 0, 5, 6, 7, 8], 2).values():
        assert speeds(found[:, :4]) == pytest.approx([1.0, 0.01], abs=1e-6)
        assert found[1, 4:].tolist() == [5, 6, 7, 8]


@pytest.mark.parametrize(("given", "amplitude"), [("", 1.1386294), (", attention_factor: 1.0", 1.0), (", attention_factor: 0.5", 0.5)])
def test_an_explicit_attention_factor_replaces_yarn_s_own(given: str, amplitude: float) -> None:
    """yarn-explicit-attention-factor, https://github.com/ml-explore/mlx-lm/pull/1507"""
    for found in keys(f"rope(theta: 10_000, scaling: yarn(factor: 4, original: 16{given}))", 8, [2, 2, 2, 2, 0, 0, 0, 0], 1).values():
        assert found[0, :4] == pytest.approx(np.full(4, 2 * amplitude), rel=1e-6)


@pytest.mark.parametrize("given", [{}, {"attention_factor": None}, {"attention_factor": 1.0}])
def test_a_published_attention_factor_is_read(given: dict) -> None:
    """yarn-explicit-attention-factor, https://github.com/ml-explore/mlx-lm/pull/1507 (absent and null are the formula)"""
    rope = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 16} | given
    scaling = imported(LLAMA | {"rope_parameters": rope}).stack.layers[0].position.scaling
    assert scaling.amplitude() == pytest.approx(1.0 if given.get("attention_factor") else 1.1386294)


@pytest.mark.parametrize("kind", ["deepseek_v2", "deepseek_v3"])
def test_both_deepseeks_scale_their_scores(kind: str) -> None:
    """yarn-mscale-missing-v2-mistral4, https://github.com/huggingface/transformers/pull/47435"""
    config = {
        "model_type": kind, "vocab_size": 32, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 48,
        "q_lora_rank": 8, "kv_lora_rank": 8, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8, "first_k_dense_replace": 1,
        "rope_scaling": {"type": "yarn", "factor": 40.0, "mscale": 0.707, "mscale_all_dim": 0.707, "original_max_position_embeddings": 16},
    }  # fmt: skip
    scaling = imported(config).stack.layers[0].position.scaling
    assert scaling.score_factor() == pytest.approx((0.1 * 0.707 * np.log(40.0) + 1) ** 2)
    assert scaling.amplitude() == 1.0


LONGROPE = f"rope(theta: 10_000, scaling: longrope(short: {[1] * 8}, long: {[4] * 8}, original: 8, factor: 8))"


@pytest.mark.parametrize(("length", "speed"), [(8, 1.0), (9, 0.25)])
def test_longrope_takes_the_long_table_past_its_original_length(length: int, speed: float) -> None:
    """longrope-short-long-switch, https://github.com/ml-explore/mlx-lm/pull/660"""
    for found in keys(LONGROPE, 16, [1] * 8 + [0] * 8, length).values():
        assert speeds(found)[0] == pytest.approx(speed, abs=1e-6)
        assert np.hypot(found[1, 0], found[1, 8]) == pytest.approx(1.4142136, abs=1e-6)


def test_longrope_s_amplitude_at_published_sizes() -> None:
    """longrope-short-long-switch, https://github.com/ml-explore/mlx-lm/pull/660 (a context of 128k over 4k)"""
    config = LLAMA | {
        "model_type": "phi3", "max_position_embeddings": 131_072, "original_max_position_embeddings": 4096,
        "rope_scaling": {"type": "longrope", "short_factor": [1.0] * 8, "long_factor": [4.0] * 8},
    }  # fmt: skip
    assert imported(config).stack.layers[0].position.scaling.amplitude() == pytest.approx(1.1902381, abs=1e-7)


def test_longrope_is_not_frozen_in_the_graph() -> None:
    """longrope-frozen-in-export, https://github.com/huggingface/optimum-intel/pull/1504 (one graph, called with 8 and then 1)"""
    found = keys(LONGROPE, 16, [1] * 8 + [0] * 8, 9, pieces=[8, 1])
    for name in BACK_ENDS:
        assert speeds(found[name])[0] == pytest.approx(1.0, abs=1e-6)  # kept from the first call
        assert np.arctan2(found[name][8, 8], found[name][8, 0]) == pytest.approx(0.25 * 8, abs=1e-5)


@pytest.mark.parametrize("name", ["rope_parameters", "rope_scaling"])
def test_a_record_of_rope_settings_is_no_scaling_by_itself(name: str) -> None:
    """rope-scaling-not-none-means-scaled, https://github.com/ROCm/aiter/pull/4742"""
    position = imported(LLAMA | {name: {"rope_type": "default", "rope_theta": 1e6}}).stack.layers[0].position
    assert (position.theta, position.scaling) == (1e6, None)


GEMMA3 = LLAMA | {"model_type": "gemma3_text", "num_hidden_layers": 6, "head_dim": 16, "sliding_window": 8}
NESTED = {
    "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
    "full_attention": {"rope_type": "linear", "rope_theta": 1_000_000.0, "factor": 8.0},
}


def test_rope_settings_by_layer_type() -> None:
    """rope-nested-per-layer-type, https://github.com/onnxruntime/mobius/issues/389"""
    layers = imported(GEMMA3 | {"rope_parameters": NESTED}).stack.layers
    assert [layer.position.theta for layer in layers] == [10_000.0] * 5 + [1_000_000.0]
    assert [getattr(layer.position.scaling, "kind", None) for layer in layers] == [None] * 5 + ["linear"]


@pytest.mark.parametrize("missing", NESTED)
def test_a_layer_type_without_rope_settings_is_refused(missing: str) -> None:
    """rope-nested-per-layer-type, https://github.com/onnxruntime/mobius/issues/389"""
    ((code, message),) = refusal(GEMMA3 | {"rope_parameters": {n: v for n, v in NESTED.items() if n != missing}})
    assert code == "CFG011"
    assert missing in message


def test_rope_settings_by_layer_type_where_layers_have_no_types() -> None:
    """rope-nested-per-layer-type, https://github.com/onnxruntime/mobius/issues/389"""
    ((code, _),) = refusal(LLAMA | {"rope_parameters": NESTED})
    assert code == "CFG011"


def test_one_in_no_rope_layers_means_with_rope() -> None:
    """nope-layers-flag-inverted, https://github.com/huggingface/transformers/issues/43756"""
    config = LLAMA | {"model_type": "smollm3", "num_hidden_layers": 8}
    for given in ({}, {"no_rope_layers": [1, 1, 1, 0, 1, 1, 1, 0]}):
        assert [layer.position.kind for layer in imported(config | given).stack.layers] == ["rope", "rope", "rope", "none"] * 2


def test_the_published_smollm3_has_nine_layers_without_rope() -> None:
    """nope-layers-flag-inverted, https://github.com/huggingface/transformers/issues/43756"""
    layers = imported(LLAMA | {"model_type": "smollm3", "num_hidden_layers": 36}).stack.layers
    assert [i for i, layer in enumerate(layers) if layer.position.kind == "none"] == list(range(3, 36, 4))


@pytest.mark.parametrize(("heads", "right"), [(6, [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]), (8, [2.0**-n for n in range(1, 9)])])
def test_alibi_slopes(heads: int, right: list[float]) -> None:
    """alibi-non-power-of-two, https://github.com/ml-explore/mlx/pull/3071"""
    assert slopes(heads, 8.0) == right
    # the same from the scores: uniform but for the bias, values 0 and 1, so the answer is the weight of the second token
    text = f"""model probe {{
      vocab = 2  dim = {heads}  depth = 1  position = alibi  mask = causal
      attention = attention(heads: {heads})  block = bare  head = hidden
    }}
    block bare(x) {{ final_norm = none  x = attention(x) }}"""
    ones = np.eye(heads)
    weights = {"embed_tokens.weight": [[0] * heads, [1] * heads], "layers.0.attention.v.weight": ones, "layers.0.attention.o.weight": ones}
    for answer in answers(text, weights, [[0, 1]]).values():
        weight = answer.out[0, 1]
        assert np.log(weight / (1 - weight)) == pytest.approx(right, abs=1e-5)  # one step back costs one slope


def test_opt_s_table_has_two_rows_that_no_position_uses() -> None:
    """opt-bart-offset-two, https://github.com/EleutherAI/gpt-neox/pull/650"""
    config = {
        "model_type": "opt", "vocab_size": 32, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "ffn_dim": 24,
        "max_position_embeddings": 6, "word_embed_proj_dim": 16,
    }  # fmt: skip
    assert shapes(config)["embed_learned_position.weight"] == (8, 16)
    text = """model probe {
      vocab = 2  dim = 2  depth = 1  context = 6  embed = tokens() + learned_position(offset: 2)  mask = causal  position = none
      attention = attention(heads: 1)  block = bare  head = hidden
    }
    block bare(x) { final_norm = none  x = x + attention(x) }"""
    table = np.arange(16.0).reshape(8, 2)
    for answer in answers(text, {"embed_learned_position.weight": table}, [[0, 1, 0]]).values():
        assert answer.out[0].tolist() == table[2:5].tolist()


def test_bart_s_tables_have_two_rows_that_no_position_uses() -> None:
    """opt-bart-offset-two, https://github.com/EleutherAI/gpt-neox/pull/650"""
    config = {
        "model_type": "bart", "vocab_size": 32, "d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
        "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "max_position_embeddings": 10,
        "scale_embedding": True,
    }  # fmt: skip
    model = imported(config)
    tables = {key: p.shape for key, p in model.parameters().items() if "learned_position" in key}
    assert len(tables) == 2 and set(tables.values()) == {(12, 16)}
    for stack in (model.encoder, model.stack):  # times the root of 16
        assert [i.component.scale for i in stack.embedding.instances if hasattr(i.component, "scale")] == [4.0]


def test_positions_of_a_left_padded_batch_count_real_tokens() -> None:
    """left-pad-positions, https://github.com/ndif-team/nnsight/pull/673: positions 0, 0, 0, 1, 2"""
    text = """model probe {
      vocab = 8  dim = 2  depth = 1  context = 6  embed = tokens() + learned_position()  mask = causal  position = none
      attention = attention(heads: 1)  block = bare  head = hidden
    }
    block bare(x) { final_norm = none  x = x + attention(x) }"""
    table = np.arange(12.0).reshape(6, 2)
    found: dict[str, Answer] = answers(text, {"embed_learned_position.weight": table}, [[0, 0, 5, 6, 7]], [[0, 0, 1, 1, 1]])
    for answer in found.values():
        assert answer.out[0, 2:].tolist() == table[:3].tolist()


def test_a_family_reads_rope_settings_of_both_spellings() -> None:
    """rope-scaling-not-none-means-scaled, https://github.com/ROCm/aiter/pull/4742 (`type` is the older spelling of `rope_type`)"""
    older = family_model(LLAMA | {"rope_theta": 500.0, "rope_scaling": {"type": "linear", "factor": 2.0}})
    newer = family_model(LLAMA | {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 500.0}})
    assert older.stack.layers[0].position == newer.stack.layers[0].position


def test_an_unknown_scaling_is_refused() -> None:
    """rope-scaling-not-none-means-scaled, https://github.com/ROCm/aiter/pull/4742"""
    with pytest.raises(SpecError, match="CFG010"):
        family_model(LLAMA | {"rope_scaling": {"rope_type": "spiral", "factor": 2.0}})


@pytest.mark.parametrize("kind", ["mistral4", "gemma4_text"])
def test_a_family_that_is_not_known_borrows_no_other_one_s_positions(kind: str) -> None:
    """yarn-mscale-missing-v2-mistral4, https://github.com/huggingface/transformers/pull/47435, and null-config-values: refused by name"""
    ((code, message),) = refusal(LLAMA | {"model_type": kind})
    assert (code, message) == ("CFG004", f"specc has no family for the model type `{kind}`")


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_weights_there_and_back_keep_the_pairs(layout: str, tmp_path: Path) -> None:
    """rope-interleaved-flag-dropped-in-converter, https://github.com/huggingface/nanotron/pull/427

    Both ways every tensor stays as it is, the numbers too, and a layout that got lost would be another fingerprint.
    """
    text = TURNED.replace("LAYOUT", layout)
    model, other = model_of(text), model_of(TURNED.replace("LAYOUT", "interleaved" if layout == "half" else "half"))
    weights = draw(model)
    save_file(weights, tmp_path / "weights.safetensors")
    published = to_published(model, open_checkpoint(tmp_path), tmp_path / "published")
    to_own(model, open_checkpoint(published.parent), tmp_path / "own")
    again = load_file(tmp_path / "own" / "weights.safetensors")
    assert again.keys() == weights.keys()
    assert all(np.array_equal(again[key], weights[key]) for key in weights)
    given = {"input_ids": np.array([[1, 2, 3, 4, 5]]), "attention_mask": np.ones((1, 5), np.int64)}
    for run in (run_torch, run_onnx):
        before = run(model, weights, given)["logits"]
        assert np.abs(before - run(model, again, given)["logits"]).max() == 0
        assert np.abs(before - run(other, again, given)["logits"]).max() > 1e-3
    assert fingerprint(model) != fingerprint(other)


def test_the_other_layout_is_an_order_of_the_rows_of_queries_and_keys() -> None:
    """rope-half-vs-interleaved, https://github.com/ooples/AiDotNet/pull/2074: both and their biases, or the numbers are others"""
    half, interleaved = (model_of(TURNED.replace("LAYOUT", layout)) for layout in ("half", "interleaved"))
    weights = draw(half)
    given = {"input_ids": np.array([[1, 2, 3, 4, 5]]), "attention_mask": np.ones((1, 5), np.int64)}
    order = np.array([0, 2, 1, 3])  # of a head's four rows: i and i + 2 come to stand at 2i and 2i + 1
    for moved, same in ((("q.weight", "q.bias", "k.weight", "k.bias"), True), (("q.weight", "q.bias"), False), (("q.weight", "k.weight"), False)):
        turned = {k: v.reshape(-1, 4, *v.shape[1:])[:, order].reshape(v.shape) if k.endswith(moved) else v for k, v in weights.items()}
        for run in (run_torch, run_onnx):
            gap = np.abs(run(half, weights, given)["logits"] - run(interleaved, turned, given)["logits"]).max()
            assert (gap < 1e-5) if same else (gap > 1e-3)
