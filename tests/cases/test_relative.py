"""Relative positions: buckets that run the wrong way, and tables in the wrong place (faults that other projects had)."""

from __future__ import annotations

import numpy as np
import pytest

from specc.weights.rules import candidates
from tests.cases.values import family_model
from tests.harness import draw, inputs_of, model_of, run_onnx, run_torch

TEXT = """model probe {{
  vocab = 4  dim = 4  depth = {depth}  context = 512  mask = {mask}
  position = relative_bias(buckets: 32, max_distance: 128, bidirectional: {ahead})
  attention = attention(heads: 1, bias: [v])  norm = rms(eps: 1e-5)  block = bare  head = hidden
}}
block bare(x) {{ final_norm = none  x = x + attention(x) }}"""
WAYS = [-200, -8, -1, 0, 1, 8, 200]


def reads(way: int, ahead: bool, hidden: int, run) -> float:
    """How much a query takes of the key so many columns ahead, where the bias of one bucket hides what stands in it."""
    model = model_of(TEXT.format(depth=1, mask="bidirectional", ahead=str(ahead).lower()))
    query, key = 220, 220 + way
    ids = np.zeros((1, 441), np.int64)
    ids[:, key] = 1  # the only token with a value
    weights = {name: np.zeros_like(value) for name, value in draw(model).items()}
    weights["embed_tokens.weight"][1] = 1
    weights["layers.0.attention.v.weight"] += np.eye(4, dtype=np.float32)
    weights["layers.0.attention.o.weight"] += np.eye(4, dtype=np.float32)
    weights["position.weight"][hidden] = -50
    out = run(model, weights, {"input_ids": ids, "attention_mask": np.ones_like(ids)})["last_hidden_state"][0, query, 0]
    return float(out) - float(query == key)


@pytest.mark.parametrize("run", [run_torch, run_onnx])
@pytest.mark.parametrize(("ahead", "right"), [(True, [15, 8, 1, 0, 17, 24, 31]), (False, [31, 8, 1, 0, 0, 0, 0])])
def test_the_direction_of_buckets(ahead: bool, right: list[int], run) -> None:
    """t5-bucket-direction, https://github.com/huggingface/transformers/pull/8518: a causal stack with the buckets of a bidirectional one"""
    for way, bucket in zip(WAYS, right, strict=True):
        assert abs(reads(way, ahead, bucket, run)) < 1e-6 < 1e-3 < reads(way, ahead, (bucket + 1) % 32, run)


@pytest.mark.parametrize("run", [run_torch, run_onnx])
def test_one_table_serves_every_layer(run) -> None:
    """t5-bias-first-layer-shared, https://github.com/huggingface/transformers/issues/10221: no table in each layer, none for the first alone"""
    model = model_of(TEXT.format(depth=3, mask="causal", ahead="false"))
    assert [key for key in model.parameters() if "position" in key] == ["position.weight"]
    weights, inputs = draw(model), inputs_of(model, padded=False)
    before = run(model, weights, inputs)["last_hidden_state"]
    for layer in range(3):
        others = {f"layers.{n}.attention.o.weight": 0 * weights[f"layers.{n}.attention.o.weight"] for n in range(3) if n != layer}
        alone, moved = weights | others, weights | others | {"position.weight": weights["position.weight"][::-1].copy() * 4}
        assert np.abs(run(model, alone, inputs)["last_hidden_state"] - run(model, moved, inputs)["last_hidden_state"]).max() > 1e-2
    assert np.isfinite(before).all()


@pytest.mark.parametrize("kind", ["t5", "mt5"])
def test_t5_s_stacks_have_a_table_each_and_scores_without_a_scale(kind: str) -> None:
    """t5-bias-first-layer-shared, https://github.com/huggingface/transformers/issues/10221: two tables, none where a decoder reads its encoder"""
    sizes = {"vocab_size": 32, "d_model": 16, "d_kv": 4, "num_heads": 3, "d_ff": 20, "num_layers": 3}
    model = family_model({"model_type": kind, "pad_token_id": 0, "decoder_start_token_id": 0, **sizes})
    tables = {key: parameter.shape for key, parameter in model.parameters().items() if "position" in key}
    assert tables == {"encoder.position.weight": (32, 3), "decoder.position.weight": (32, 3)}
    names = model.weights[0]
    published = {candidate.names[0] for key in tables for candidate in candidates(names, model.parameters())[key]}
    wanted = {f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight" for stack in ("encoder", "decoder")}
    assert published == wanted
    attentions = [i.component for stack in model.stacks for layer in stack.layers for i in layer.instances if hasattr(i.component, "head_dim")]
    assert [attention.scale for attention in attentions] == [1] * 9  # 3 of the encoder, 6 of the decoder
