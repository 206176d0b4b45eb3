"""Masks, caps, clips, sinks, heads and caches of attention: faults that other projects had, with the right numbers.

Where queries and keys are zero, a query's answer is the mean of the values it sees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.cases.values import Answer, answers, imported, imported_text, kept, shapes
from tests.harness import draw, model_of, run_onnx, run_torch

LLAMA = {
    "vocab_size": 32, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 24, "max_position_embeddings": 64,
}  # fmt: skip


def spec(attention: str, mask: str = "causal", dim: int = 1, vocab: int = 8, position: str = "none") -> str:
    """One layer that answers with its attention alone."""
    return f"""model probe {{
      vocab = {vocab}  dim = {dim}  depth = 1  context = 32  position = {position}  mask = {mask}
      attention = {attention}  block = bare  head = hidden
    }}
    block bare(x) {{ final_norm = none  x = attention(x) }}"""


def means(mask: str, length: int, padding: list[int] | None = None, pieces: list[int] | None = None, **more: list[int]) -> dict[str, np.ndarray]:
    """[T]: the mean of the numbers of the tokens that each token sees."""
    weights = {"embed_tokens.weight": [[float(n)] for n in range(8)], "layers.0.attention.v.weight": 1, "layers.0.attention.o.weight": 1}
    ids = [list(range(length))]
    found = answers(spec("attention(heads: 1)", mask), weights, ids, None if padding is None else [padding], pieces, **more)
    return {name: answer.out[0, :, 0] for name, answer in found.items()}


def test_a_window_counts_the_token_itself() -> None:
    """sliding-window-off-by-one, https://github.com/huggingface/transformers/issues/39408: {0} {0,1} {0,1,2} {1,2,3} {2,3,4}"""
    for found in means("sliding(3)", 5).values():
        assert found == pytest.approx([0, 0.5, 1, 2, 3])


@pytest.mark.parametrize("pieces", [[4], [3, 1], [1, 1, 1, 1]])
def test_a_window_of_two_in_every_kind_of_call(pieces: list[int]) -> None:
    """ort-gqa-local-window-change, https://github.com/microsoft/onnxruntime/pull/25927"""
    for found in means("sliding(2)", 4, pieces=pieces).values():
        assert found == pytest.approx([0, 0.5, 1.5, 2.5])


def test_two_queries_after_three_kept_keys() -> None:
    """ort-attention-causal-ep-divergence, https://github.com/microsoft/onnxruntime/issues/29020: causal from the end of the past"""
    for found in means("causal", 5, pieces=[3, 2]).values():
        assert found[3:] == pytest.approx([1.5, 2.0])


def test_counted_lengths_of_keys() -> None:
    """attention24-nonpad-count-vs-index, https://github.com/onnx/onnx/issues/8054: the last real key is seen, the first padding is not"""
    for found in means("causal", 4, [1, 1, 1, 0]).values():
        assert found[:3] == pytest.approx([0, 0.5, 1])
    for found in means("bidirectional", 4, [1, 1, 1, 0]).values():
        assert found[:3] == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("mask", ["causal", "sliding(2)", "bidirectional"])
def test_a_query_that_sees_nothing_gives_zero(mask: str) -> None:
    """finite-mask-all-masked-mean-v, https://github.com/microsoft/onnxruntime/issues/28904, and
    masked-row-depends-on-opset, https://github.com/microsoft/onnxscript/pull/2654: zero, neither the mean of all values nor NaN"""
    for found in means(mask, 4, [0, 0, 0, 0]).values():
        assert found.tolist() == [0, 0, 0, 0]


def test_two_masks_that_meet_stay_finite() -> None:
    """finfo-min-plus-finfo-min, https://github.com/huggingface/transformers/pull/27114: window, order and padding hide the same key"""
    for found in means("sliding(2)", 6, [0, 0, 1, 0, 1, 1]).values():
        assert np.isfinite(found).all()
        assert found[[2, 4, 5]] == pytest.approx([2, 4, 4.5])


@pytest.mark.parametrize("pieces", [[4, 1, 1], [1] * 6, [2, 4]])
def test_a_window_over_cached_steps(pieces: list[int]) -> None:
    """sliding-cache-parity, https://github.com/onnx/onnx/issues/7914: the window counts kept keys too"""
    whole = means("sliding(3)", 6)
    for name, found in means("sliding(3)", 6, pieces=pieces).items():
        assert found == pytest.approx(whole[name])
        assert found == pytest.approx([0, 0.5, 1, 2, 3, 4])


def test_a_prefix_shows_no_padding() -> None:
    """prefix-lm-pad-unmasked, https://github.com/huggingface/transformers/pull/35859: two of padding, a prefix of three, two after it

    Each row sees {2,3,4} up to the prefix's end, and then what comes before it.
    """
    for found in means("prefix", 7, [0, 0, 1, 1, 1, 1, 1], prefix_length=[3]).values():
        assert found[2:] == pytest.approx([3, 3, 3, 3.5, 4])


@pytest.mark.parametrize("run", [run_torch, run_onnx])
def test_positions_that_begin_again_hide_no_document(run: Callable) -> None:
    """position-reset-is-not-a-document-mask, https://github.com/huggingface/nanoVLM/pull/204: of another first document the second sees nothing"""
    words, again = np.array([[1, 2, 3, 4, 5, 6, 7]]), np.array([[0, 1, 2, 0, 1, 2, 3]])
    model = model_of(spec("attention(heads: 2)", "documents(causal)", dim=8).replace("depth", "embed = tokens() + learned_position()  depth"))
    for documents, leaks in (([0] * 7, True), ([0, 0, 0, 1, 1, 1, 1], False)):
        given = {"attention_mask": np.ones_like(words), "position_ids": again, "document_ids": np.array([documents])}
        one, other = (run(model, draw(model), given | {"input_ids": ids})["last_hidden_state"] for ids in (words, words * [[0, 0, 0, 1, 1, 1, 1]]))
        assert not np.array_equal(one[:, :3], other[:, :3])
        assert (np.abs(one - other)[:, 3:].max() > 1e-3) == leaks
        assert leaks or np.array_equal(one[:, 3:], other[:, 3:])


def test_key_heads_are_repeated_not_tiled() -> None:
    """gqa-repeat-order, https://github.com/onnx/onnx/pull/7274"""
    weights = {"layers.0.attention.v.bias": [0, 100], "layers.0.attention.o.weight": np.eye(4)}
    for answer in answers(spec("attention(heads: 4, kv_heads: 2, bias: [v])", dim=4), weights, [[0]]).values():
        assert answer.out[0, 0].tolist() == [0, 0, 100, 100]


def test_scores_are_capped_before_they_are_masked() -> None:
    """softcap-before-mask, https://github.com/onnx/onnx/pull/7867: a hidden key weighs nothing"""
    weights = {"embed_tokens.weight": [[float(n)] for n in range(8)], "layers.0.attention.v.weight": 1, "layers.0.attention.o.weight": 1}
    for answer in answers(spec("attention(heads: 1, softcap: 2.0)"), weights, [[0, 1]]).values():
        assert answer.out[0, 0].tolist() == [0.0]


def second_weight(attention: str, score: float) -> dict[str, float]:
    """The weight of the second of two keys whose scores are 0 and `score`, for a query that sees both."""
    text = spec(attention, "bidirectional", dim=2)
    table = np.zeros((8, 2))
    table[1, 0] = 1  # the second token's key is its score, its value 1
    weights = {
        "embed_tokens.weight": table, "layers.0.attention.q.bias": [1, 0], "layers.0.attention.k.weight": [[score, 0], [0, 0]],
        "layers.0.attention.v.weight": np.eye(2), "layers.0.attention.o.weight": np.eye(2),
    }  # fmt: skip
    return {name: float(answer.out[0, 0, 0]) for name, answer in answers(text, weights, [[0, 1]]).items()}


def test_the_cap_is_applied_to_scaled_scores() -> None:
    """attn-softcap-hardcoded-off, https://github.com/vllm-project/vllm-metal/issues/665, and
    softcap-before-mask, https://github.com/onnx/onnx/pull/7867: 50 tanh(2 / 50) = 1.9989341, and with cap 1 tanh(2)"""
    for cap, capped in ((50, 1.99893427), (1, np.tanh(2))):
        for found in second_weight(f"attention(heads: 1, bias: [q], scale: 0.5, softcap: {cap})", 4.0).values():
            assert found == pytest.approx(1 / (1 + np.exp(-capped)), rel=1e-6)


def test_a_given_scale_replaces_the_root() -> None:
    """granite-four-multipliers, https://github.com/OpenNMT/CTranslate2/pull/1882: attention_multiplier stands for 1 / sqrt(d)"""
    for found in second_weight("attention(heads: 1, bias: [q], scale: 2.0)", 0.7).values():
        assert found == pytest.approx(1 / (1 + np.exp(-1.4)), rel=1e-6)


def test_logits_are_capped() -> None:
    """attn-softcap-hardcoded-off, https://github.com/vllm-project/vllm-metal/issues/665: 30 tanh(40 / 30) = 26.1018499"""
    text = """model probe {
      vocab = 2  dim = 2  depth = 1  position = none  mask = causal  attention = attention(heads: 1)  block = bare
      head = lm(tied: false, softcap: 30)
    }
    block bare(x) { final_norm = none  x = x + attention(x) }"""
    weights = {"embed_tokens.weight": [[40, 0], [0, 0]], "head.weight": np.eye(2)}
    for answer in answers(text, weights, [[0]]).values():
        assert answer.out[0, 0] == pytest.approx([26.1018499, 0], abs=1e-5)


@pytest.mark.parametrize(("sink", "right"), [(0.0, 2 / 3), (-1e4, 1.0), (2.0, 2 / (2 + np.exp(2)))])
def test_a_sink_joins_the_denominator_alone(sink: float, right: float) -> None:
    """attention-sink-semantics, https://github.com/fla-org/flash-linear-attention/pull/831: two scores of 0 sum to sigmoid(lse - sink)"""
    text = spec("attention(heads: 1, bias: [v], sinks: true)", "bidirectional")
    weights = {"layers.0.attention.v.bias": 1, "layers.0.attention.o.weight": 1, "layers.0.attention.sinks": sink}
    for answer in answers(text, weights, [[0, 1]]).values():
        assert answer.out[0, 0, 0] == pytest.approx(right, rel=1e-6)


def clipped(attention: str, position: str = "none") -> dict[str, Answer]:
    text = spec(attention, dim=4, position=position)
    weights: dict[str, Any] = {
        "embed_tokens.weight": 1, "layers.0.attention.k.weight": np.diag([1, 2, 3, 4]), "layers.0.attention.v.weight": np.diag([1, 2, 3, 4]),
    }  # fmt: skip
    if "qk_norm" in attention:
        weights |= {"layers.0.attention.q_norm.weight": 1, "layers.0.attention.k_norm.weight": 1}
    return answers(text, weights, [[0, 1]])


def test_keys_and_values_are_clipped() -> None:
    """clip-qkv-dropped-or-misplaced, https://github.com/vllm-project/vllm/pull/35523"""
    for answer in clipped("attention(heads: 1, clip: 2.5)").values():
        assert answer.key[0, 0, 0].tolist() == [1, 2, 2.5, 2.5]
        assert answer.value[0, 0, 0].tolist() == [1, 2, 2.5, 2.5]


def test_the_clip_stands_after_the_norm_and_before_the_rotation() -> None:
    """clip-qkv-dropped-or-misplaced, https://github.com/vllm-project/vllm/pull/35523: norm, clip, rope"""
    rms = np.sqrt(np.mean(np.array([1, 2, 3, 4]) ** 2))
    right = np.minimum(np.array([1, 2, 3, 4]) / rms, 1.0)
    turned = right.copy()
    for pair, speed in enumerate((1.0, 0.01)):
        a, b = right[pair], right[pair + 2]
        turned[pair], turned[pair + 2] = a * np.cos(speed) - b * np.sin(speed), b * np.cos(speed) + a * np.sin(speed)
    for answer in clipped("attention(heads: 1, clip: 1.0, qk_norm: rms(eps: 1e-9), qk_norm_over: width)", "rope(theta: 10_000)").values():
        assert answer.key[0, 0, 0] == pytest.approx(right, rel=1e-5)
        assert answer.key[0, 0, 1] == pytest.approx(turned, rel=1e-5)


def test_olmoe_reads_clip_qkv() -> None:
    """clip-qkv-dropped-or-misplaced, https://github.com/vllm-project/vllm/pull/35523"""
    for kind in ("olmo", "olmoe"):
        layer = imported(LLAMA | {"model_type": kind, "clip_qkv": 0.05}).stack.layers[0]
        assert layer.instance("attention").component.clip == 0.05


def test_a_head_is_not_the_width_over_the_heads() -> None:
    """head-dim-not-hidden-over-heads, https://github.com/paiml/entrenar/issues/262"""
    found = shapes(LLAMA | {"model_type": "qwen3", "hidden_size": 20, "head_dim": 8})
    wanted = {"q": (32, 20), "k": (16, 20), "v": (16, 20), "o": (20, 32)}
    assert {part: found[f"layers.0.attention.{part}.weight"] for part in wanted} == wanted


def test_norms_of_queries_and_keys_have_their_family_s_width() -> None:
    """qk-norm-width, https://github.com/lablup/mlxcel/issues/316: by head in Qwen 3, over the whole projection in OLMo 2"""
    for config, q, k in ((LLAMA | {"model_type": "qwen3", "head_dim": 8}, 8, 8), (LLAMA | {"model_type": "olmo2"}, 24, 12)):
        found = shapes(config)
        assert found["layers.0.attention.q_norm.weight"] == (q,)
        assert found["layers.0.attention.k_norm.weight"] == (k,)


def test_olmo2_s_norms_stand_after_the_sublayers() -> None:
    """qk-norm-width, https://github.com/lablup/mlxcel/issues/316"""
    names = imported_text(LLAMA | {"model_type": "olmo2"})
    assert "post_attention_layernorm" in names
    assert "post_feedforward_layernorm" in names
    assert "input_layernorm" not in names


@pytest.mark.parametrize(
    ("given", "sliding"),
    [
        ({"use_sliding_window": False, "max_window_layers": 0}, [False] * 4),
        ({"use_sliding_window": True, "max_window_layers": 2}, [False, False, True, True]),
        ({"use_sliding_window": True, "max_window_layers": 28}, [False] * 4),
    ],
)
def test_qwen2_s_window_has_two_gates(given: dict, sliding: list[bool]) -> None:
    """qwen2-sliding-two-gates, https://github.com/huggingface/transformers/issues/38002"""
    config = LLAMA | {"model_type": "qwen2", "num_hidden_layers": 4, "sliding_window": 16} | given
    assert [layer.mask.kind == "sliding" for layer in imported(config).stack.layers] == sliding


def test_a_window_that_no_layer_uses_is_named() -> None:
    """qwen2-sliding-two-gates, https://github.com/huggingface/transformers/issues/38002"""
    config = LLAMA | {"model_type": "qwen2", "sliding_window": 16, "use_sliding_window": True}
    assert kept(config | {"max_window_layers": 1}) == []
    (warning,) = kept(config | {"max_window_layers": 28})
    assert "no use of `sliding_window` (here 16)" in warning
