"""Nine settings that exporters drop in silence, each held against transformers in PyTorch and in ONNX Runtime.

Every sequence is longer than the trained context and than the window. Each case also says what ignoring the setting would
be, and the reference must differ from that visibly: else the comparison would prove nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.reference.published import Ours, Reference, write
from tests.tolerance import TOLERANCE, VISIBLE, distance

transformers = pytest.importorskip("transformers")
pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

LENGTH = 40  # tokens; the trained context is 16, the window 8
PIECES = [9, 5, 1, 1, 1, 1, 4, 18]  # the fifth call is the first past 16 positions
BASE: dict[str, Any] = {
    "vocab_size": 151, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
THETA = 1000.0
PLAIN = {"rope_type": "default", "rope_theta": THETA}
SHORT, LONG = [1.0, 1.1, 1.3, 2.0], [1.5, 2.5, 6.0, 9.0]


def scaled(kind: str, **settings: Any) -> dict[str, Any]:
    return {"rope_parameters": {"rope_type": kind, "rope_theta": THETA} | settings}


@dataclass(frozen=True)
class Case:
    """A model type with its settings; `ignored` is the same config with the setting dropped."""

    kind: str
    given: dict[str, Any]
    ignored: dict[str, Any]
    by_length: bool = False  # its rotary table depends on the length of the call, so cached steps are not the full pass
    spec: tuple[str, ...] = field(default=())  # what the imported spec must say


CASES = {
    "rope default": Case("llama", scaled("default"), {"rope_parameters": PLAIN | {"rope_theta": 10_000.0}}, spec=("rope(theta: 1_000.0)",)),
    "rope linear": Case("llama", scaled("linear", factor=4.0), {"rope_parameters": PLAIN}, spec=("linear(factor: 4.0)",)),
    # the base grows from the context that the config names
    "rope dynamic": Case(
        "llama", scaled("dynamic", factor=3.0) | {"max_position_embeddings": 16}, {"rope_parameters": PLAIN}, True, ("dynamic(factor: 3.0",)
    ),
    "rope yarn": Case(
        "llama", scaled("yarn", factor=4.0, original_max_position_embeddings=16), {"rope_parameters": PLAIN}, spec=("yarn(factor: 4.0",)
    ),
    "rope llama3": Case(
        "llama",
        scaled("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16),
        {"rope_parameters": PLAIN},
        spec=("llama3(factor: 8.0",),
    ),
    "rope longrope on llama": Case(
        "llama",
        scaled("longrope", short_factor=SHORT, long_factor=LONG, original_max_position_embeddings=16, factor=4.0),
        {"rope_parameters": PLAIN},
        True,
        ("longrope(short: [",),
    ),
    "rope longrope on phi3": Case(
        "phi3",
        scaled("longrope", short_factor=SHORT, long_factor=LONG, original_max_position_embeddings=16)
        | {"original_max_position_embeddings": 16},
        {"rope_parameters": PLAIN},
        True,
        ("longrope(short: [",),
    ),
    "sliding window on mistral": Case("mistral", {"sliding_window": 8}, {"sliding_window": None}, spec=("sliding(8)",)),
    "gemma 2 window": Case(
        "gemma2", {"sliding_window": 8, "head_dim": 12, "attn_logit_softcapping": 1.0, "final_logit_softcapping": 2.0},
        {"sliding_window": 4096}, spec=("sliding(8)", "softcap: 1.0", "softcap: 2.0"),
    ),
    "gemma 2 score cap": Case(
        "gemma2", {"sliding_window": 8, "head_dim": 12, "attn_logit_softcapping": 1.0, "final_logit_softcapping": 2.0},
        {"attn_logit_softcapping": None},
    ),
    "gemma 2 logit cap": Case(
        "gemma2", {"sliding_window": 8, "head_dim": 12, "attn_logit_softcapping": 1.0, "final_logit_softcapping": 2.0},
        {"final_logit_softcapping": None},
    ),
}  # fmt: skip


def tokens() -> np.ndarray:
    return np.random.default_rng(3).integers(5, 150, (2, LENGTH))


WHOLE = np.ones((2, LENGTH), np.int64)
PADDED = WHOLE.copy()
PADDED[1, :7] = 0


@pytest.fixture(scope="module", params=[*CASES, "norms on queries and keys of qwen3"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Case, Path, Ours]:
    work = tmp_path_factory.mktemp("case")
    case = CASES.get(request.param) or Case("qwen3", {"head_dim": 12}, {}, spec=("qk_norm: norm",))
    config = transformers.AutoConfig.for_model(case.kind, **BASE | case.given)
    folder = write(work / "checkpoint", config, spread=0.25)
    return case, folder, Ours(folder, work)


def close(got: np.ndarray, want: np.ndarray, mask: np.ndarray = WHOLE) -> None:
    real = mask.astype(bool)
    assert distance(got[real], want[real]) < TOLERANCE["float32"]


def test_the_spec_says_it(made: tuple[Case, Path, Ours]) -> None:
    case, _, ours = made
    assert [words for words in case.spec if words not in ours.text] == []


def test_ignoring_it_would_be_seen(made: tuple[Case, Path, Ours]) -> None:
    case, folder, ours = made
    want = Reference(folder).full(tokens(), WHOLE)
    if case.ignored:
        without = Reference(folder, **case.ignored).full(tokens(), WHOLE)
    else:  # the norms cannot be switched off, but their weights can be made neutral
        without = _with_neutral_norms(folder)
    assert distance(without, want) > VISIBLE * TOLERANCE["float32"]


def _with_neutral_norms(folder: Path) -> np.ndarray:
    import torch

    model = Reference(folder)._load()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(("q_norm.weight", "k_norm.weight")):
                parameter.fill_(1.0)
        return model(torch.from_numpy(tokens())).logits.numpy()


def test_full_pass(made: tuple[Case, Path, Ours]) -> None:
    _, folder, ours = made
    want = Reference(folder).full(tokens(), WHOLE)
    close(ours.torch_full(tokens(), WHOLE), want)
    close(ours.onnx_full(tokens(), WHOLE), want)


def test_within_the_trained_context(made: tuple[Case, Path, Ours]) -> None:
    """Fifteen tokens: the same module and graph, on the near side of every switch."""
    _, folder, ours = made
    ids, mask = tokens()[:, :15], WHOLE[:, :15]
    want = Reference(folder).full(ids, mask)
    close(ours.torch_full(ids, mask), want, mask)
    close(ours.onnx_full(ids, mask), want, mask)


@pytest.mark.parametrize("length", [16, 17])
def test_at_the_switch(made: tuple[Case, Path, Ours], length: int) -> None:
    """Sixteen positions are the trained context, the seventeenth lies past it."""
    _, folder, ours = made
    ids, mask = tokens()[:, :length], WHOLE[:, :length]
    want = Reference(folder).full(ids, mask)
    close(ours.torch_full(ids, mask), want, mask)
    close(ours.onnx_full(ids, mask), want, mask)


def test_padded_batch(made: tuple[Case, Path, Ours]) -> None:
    _, folder, ours = made
    want = Reference(folder).full(tokens(), PADDED)
    close(ours.torch_full(tokens(), PADDED), want, PADDED)
    close(ours.onnx_full(tokens(), PADDED), want, PADDED)


@pytest.mark.parametrize("mask", [WHOLE, PADDED], ids=["whole", "padded"])
def test_cached_steps(made: tuple[Case, Path, Ours], mask: np.ndarray) -> None:
    """Held against the reference's own cached steps in the same pieces: where the table depends on the length of the call, the
    keys that an earlier call has left were turned by another table, and the full pass is another number."""
    case, folder, ours = made
    want = Reference(folder).steps(tokens(), mask, PIECES)
    close(ours.torch_steps(tokens(), mask, PIECES), want, mask)
    close(ours.onnx_steps(tokens(), mask, PIECES), want, mask)
    apart = distance(want[0], Reference(folder).full(tokens(), mask)[0])
    assert (apart > VISIBLE * TOLERANCE["float32"]) is case.by_length
