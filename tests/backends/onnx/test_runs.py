"""The numbers of a graph do not depend on how they are asked for: batch, length, padding, and the pieces of a text."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from specc.backends.onnx.write import write
from tests.backends.onnx.models import BIDIRECTIONAL, ONE_VECTOR, SPECS, model, save, weights
from tests.backends.onnx.running import PRESENT, open_session, run, tokens
from tests.harness import draw, model_of, run_onnx, run_torch
from tests.tolerance import TOLERANCE, distance

pytest.importorskip("onnxruntime")
ALLOWED = TOLERANCE["float32"]
CAUSAL = tuple(name for name in SPECS if name not in BIDIRECTIONAL)
# Pooled heads have one output for a whole text. The texts stay inside the length at which dynamic rope changes its tables.
STEPPED = tuple(name for name in CAUSAL if name not in ONE_VECTOR)


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory):
    """The session of a spec by name, opened once."""

    @cache
    def opened(name: str):
        folder = save(name, tmp_path_factory.mktemp(name) / "w")
        return open_session(write(model(name), folder, folder).graph)

    return opened


def outputs(name: str) -> tuple[str, ...]:
    return model(name).heads[0].component.outputs


def torch_numbers(name: str, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    asked = {i.name for part in model(name).stack.embedding.instances for i in part.component.inputs()} | {"attention_mask"}
    return run_torch(model(name), weights(name), {key: value for key, value in given.items() if key in asked})


def longest(name: str) -> int:
    """Learned positions end somewhere; everything else goes on."""
    return 16 if "learned_position" in SPECS[name] else 17


@pytest.mark.parametrize("name", SPECS)
def test_every_length_and_batch_equals_pytorch(name: str, session):
    for length in range(1, longest(name) + 1):
        given = tokens(1 + length % 3, length, seed=length)
        found, wanted = run(session(name), given), torch_numbers(name, given)
        for output in outputs(name):
            assert distance(found[output], wanted[output]) < ALLOWED, (length, output)


@pytest.mark.parametrize("name", STEPPED)
def test_every_way_to_cut_a_text_gives_the_same(name: str, session):
    for batch, length in ((1, 1), (1, 5), (2, 12), (3, longest(name))):
        given = tokens(batch, length)
        whole = run(session(name), given)
        ones = (1,) * length
        halves = (length // 2, length - length // 2) if length > 1 else (1,)
        thirds = tuple(piece for piece in (3,) * (length // 3) + (length % 3,) if piece)
        for pieces in (ones, halves, thirds, (length - 1, 1) if length > 1 else (1,)):
            cut = run(session(name), given, pieces)
            for key, value in cut.items():
                assert distance(value, whole[key]) < ALLOWED, (batch, length, pieces, key)


@pytest.mark.parametrize("name", STEPPED)
def test_left_padding_changes_no_real_token(name: str, session):
    """A row with padding gives what it gives alone; also in pieces, the first of which holds padding only in that row."""
    given, padding = tokens(3, 12), 5
    given["attention_mask"][1, :padding] = 0
    alone = run(session(name), {key: value[1:2, padding:] for key, value in given.items()})
    full = {key: value[[0, 2]] for key, value in tokens(3, 12).items()}
    others = run(session(name), full)
    for pieces in ((), (4, 4, 3, 1), (1,) * 12):
        found = run(session(name), given, pieces)
        for output in outputs(name):
            assert np.isfinite(found[output]).all()
            assert distance(found[output][1:2, padding:], alone[output]) < ALLOWED, pieces
            assert distance(found[output][[0, 2]], others[output]) < ALLOWED, pieces


@pytest.mark.parametrize("name", [*BIDIRECTIONAL, "last_token"])
def test_right_padding_changes_no_real_token(name: str, session):
    given, real = tokens(3, 12), 7
    given["attention_mask"][1, real:] = 0
    alone = run(session(name), {key: value[1:2, :real] for key, value in given.items()})
    found = run(session(name), given)
    for output in outputs(name):
        row = found[output][1:2] if name in ONE_VECTOR else found[output][1:2, :real]
        assert distance(row, alone[output]) < ALLOWED


@pytest.mark.parametrize("name", SPECS)
def test_a_row_that_sees_nothing_is_finite_and_disturbs_no_other(name: str, session):
    given = tokens(3, 6)
    given["attention_mask"][1] = 0
    found = run(session(name), given)
    plain = run(session(name), {key: value[[0, 2]] for key, value in tokens(3, 6).items()})
    for output in outputs(name):
        assert np.isfinite(found[output]).all()
        assert distance(found[output][[0, 2]], plain[output]) < ALLOWED


ATTENTION_ALONE = """model m {
  vocab = 24
  dim = 16
  depth = 1
  POSITION, MASK, ATTENTION
  block = only_attention
  head = hidden
}
block only_attention(x) {
  final_norm = none
  x = attention(x)
}
"""
ALONE = {
    "plain": "position = none  mask = causal  attention = attention(heads: 4, kv_heads: 2, head_dim: 4)",
    "capped": "position = rope  mask = sliding(3)  attention = attention(heads: 2, head_dim: 4, softcap: 2)",
    "biased": "position = alibi  mask = causal  attention = attention(heads: 4, head_dim: 4)",
    "sinks": "position = rope  mask = causal  attention = attention(heads: 4, kv_heads: 2, head_dim: 4, sinks: true)",
    "sinks_biased": "position = alibi  mask = sliding(3)  attention = attention(heads: 4, head_dim: 4, sinks: true)",
    "latent": "position = rope  mask = causal  "
    "attention = mla(heads: 2, kv_rank: 6, nope_dim: 4, rope_dim: 4, value_dim: 5, latent_norm: rms(eps: 1e-5))",
    "both_ways": "position = none  mask = bidirectional  attention = attention(heads: 4, head_dim: 4)",
}


@pytest.mark.parametrize("name", ALONE)
def test_attention_that_sees_nothing_gives_zero(name: str, tmp_path: Path):
    """One layer of attention and nothing else: its output is what a masked row gets."""
    alone = model_of(ATTENTION_ALONE.replace("POSITION, MASK, ATTENTION", ALONE[name]))
    given = {key: value for key, value in tokens(2, 6).items() if key != "token_type_ids"}
    given["attention_mask"][1] = 0
    for found in (run_onnx(alone, draw(alone), given), run_torch(alone, draw(alone), given)):
        assert (found["last_hidden_state"][1] == 0).all()
        assert (found["last_hidden_state"][0] != 0).any()


@pytest.mark.parametrize("name", ["grouped", "mla", "sinks"])
def test_the_cache_grows_by_what_is_new(name: str, session):
    given = tokens(2, 9)
    whole, stepped = run(session(name), given), run(session(name), given, (4, 4, 1))
    kept = [key for key in whole if key.startswith(PRESENT)]
    assert kept and all(whole[key].shape[2] == 9 and distance(stepped[key], whole[key]) < ALLOWED for key in kept)
