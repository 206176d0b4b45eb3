"""Latent attention that keeps only its latent vectors: the numbers of the whole cache, in less memory."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from specc.faces.cli import main
from specc.ir.fingerprint import fingerprint
from specc.tools.analyse import Costs
from specc.tools.verify.by_onnx import ByOnnx
from specc.tools.verify.by_torch import ByTorch
from specc.tools.verify.inputs import inputs
from specc.tools.verify.numbers import drawn, save
from tests.components.probe import spec
from tests.harness import model_of
from tests.tolerance import TOLERANCE, distance

PLAIN = "mla(heads: 3, q_rank: 7, kv_rank: 6, nope_dim: 4, rope_dim: 8, value_dim: 5, latent_norm: rms(eps: 1e-5){})"
WHOLE, SMALL = (model_of(spec(attention=PLAIN.format(rest), mask="sliding(6)", context=24, head="lm(tied: true)")) for rest in ("", ", cache: latent"))


def test_the_same_numbers(tmp_path: Path) -> None:
    numbers = drawn(WHOLE)
    save(WHOLE, numbers, tmp_path)
    given = inputs(WHOLE, 20, padded=True)
    want = ByTorch(WHOLE, numbers, tmp_path).run(given)["logits"]
    for by in (ByTorch(SMALL, numbers, tmp_path), ByOnnx(SMALL, tmp_path)):
        for got in (by.run(given), by.steps(given, [9, 5, 1, 1, 4])):
            assert distance(got["logits"][given.mask == 1], want[given.mask == 1]) <= TOLERANCE["float32"]


def test_what_is_kept(tmp_path: Path) -> None:
    """Two layers, 100 tokens, 2 bytes: 3 heads of 12 and 5 channels, or one turned key of 8 and a latent vector of 6."""
    assert Costs(WHOLE).kv_cache(100) == 2 * 100 * 2 * 3 * (12 + 5)
    assert Costs(SMALL).kv_cache(100) == 2 * 100 * 2 * (8 + 6)
    numbers = drawn(SMALL)
    save(SMALL, numbers, tmp_path)
    graph = ByOnnx(SMALL, tmp_path).session
    shapes = {i.name: i.shape for i in graph.get_inputs() if i.name.startswith("past_key_values.0.")}
    assert shapes == {"past_key_values.0.key": ["batch", 1, "past_sequence", 8], "past_key_values.0.latent": ["batch", 1, "past_sequence", 6]}
    network = ByTorch(SMALL, numbers, tmp_path).network
    cache = network(torch.ones(2, 5, dtype=torch.int64)).cache
    assert [tuple(part.shape) for part in cache[0]] == [(2, 1, 5, 8), (2, 1, 5, 6)]


def test_it_is_the_same_architecture() -> None:
    assert fingerprint(WHOLE) == fingerprint(SMALL)
    assert WHOLE.parameters() == SMALL.parameters()


def test_a_change_of_it_is_named(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Checkpoints load as they are; whoever feeds the graph has to know."""
    for name, rest in (("old", ""), ("new", ", cache: latent")):
        (tmp_path / f"{name}.specc").write_text(spec(attention=PLAIN.format(rest)))
    assert main(["diff", str(tmp_path / "old.specc"), str(tmp_path / "new.specc")]) == 0
    said = capsys.readouterr().out
    assert "loads unchanged" in said
    assert "past_key_values.{0-1}.latent" in said
