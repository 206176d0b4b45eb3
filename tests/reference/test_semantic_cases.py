"""Nine settings that exporters drop in silence, each held against transformers in PyTorch and in ONNX Runtime.

Every sequence is longer than the trained context and than the window. Each case also says what ignoring the setting would
be, and the reference must differ from that visibly: else the comparison would prove nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    """A model type with its settings. Each of `ignored` is what dropping a setting would make of the config."""

    kind: str
    given: dict[str, Any]
    ignored: tuple[dict[str, Any], ...] = ({"rope_parameters": PLAIN},)
    spec: tuple[str, ...] = ()  # what the imported spec must say
    by_length: bool = False  # its rotary table depends on the length of the call, so cached steps are not the full pass


FACTORS = {"short_factor": SHORT, "long_factor": LONG, "original_max_position_embeddings": 16}
CASES = {
    "rope default": Case("llama", scaled("default"), ({"rope_parameters": PLAIN | {"rope_theta": 10_000.0}},), ("rope(theta: 1000.0)",)),
    "rope linear": Case("llama", scaled("linear", factor=4.0), spec=("linear(factor: 4.0)",)),
    # the base grows from the context that the config names
    "rope dynamic": Case(
        "llama", scaled("dynamic", factor=3.0) | {"max_position_embeddings": 16}, spec=("dynamic(factor: 3.0",), by_length=True
    ),
    "rope yarn": Case("llama", scaled("yarn", factor=4.0, original_max_position_embeddings=16), spec=("yarn(factor: 4.0",)),
    "rope llama3": Case(
        "llama",
        scaled("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16),
        spec=("llama3(factor: 8.0",),
    ),
    "rope longrope on llama": Case(
        "llama", scaled("longrope", factor=4.0, **FACTORS), spec=("scaling: longrope(", "factor: 4.0"), by_length=True
    ),
    "rope longrope on phi3": Case(
        "phi3", scaled("longrope", **FACTORS) | {"original_max_position_embeddings": 16}, spec=("scaling: longrope(",), by_length=True
    ),
    "sliding window on mistral": Case("mistral", {"sliding_window": 8}, ({"sliding_window": None},), ("sliding(8)",)),
    "window and caps of gemma 2": Case(
        "gemma2",
        {"sliding_window": 8, "head_dim": 12, "attn_logit_softcapping": 1.0, "final_logit_softcapping": 2.0},
        ({"sliding_window": 4096}, {"attn_logit_softcapping": None}, {"final_logit_softcapping": None}),
        ("sliding(8)", "softcap: 1.0", "softcap: 2.0"),
    ),
    # these norms cannot be switched off by a field: below their weights are made neutral
    "norms on queries and keys of qwen3": Case("qwen3", {"head_dim": 12}, (), ("qk_norm: norm",)),
}


def tokens() -> np.ndarray:
    return np.random.default_rng(3).integers(5, 150, (2, LENGTH))


WHOLE = np.ones((2, LENGTH), np.int64)
PADDED = WHOLE.copy()
PADDED[1, :7] = 0


@pytest.fixture(scope="module", params=CASES)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Case, Path, Ours]:
    work = tmp_path_factory.mktemp("case")
    case = CASES[request.param]
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
    case, folder, _ = made
    want = Reference(folder).full(tokens(), WHOLE)
    without = [Reference(folder, **changed).full(tokens(), WHOLE) for changed in case.ignored] or [_with_neutral_norms(folder)]
    assert min(distance(other, want) for other in without) > VISIBLE * TOLERANCE["float32"]


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


@pytest.mark.parametrize("length", [16, 17])
def test_at_the_switch(made: tuple[Case, Path, Ours], length: int) -> None:
    """Sixteen positions are the trained context, the seventeenth lies past it; one module and one graph for both sides."""
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
