"""Trained weights all the way: import, build, run on ONNX Runtime; expected.json holds what transformers computes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from specc.faces.cli import main
from tests.real.packages import minilm, smollm2
from tests.tolerance import TOLERANCE, distance

pytest.importorskip("onnxruntime")
EXPECTED = json.loads(Path(__file__).with_name("expected.json").read_text())


def made(name: str, checkpoint: Callable[[Path], Path], folder: Path) -> Path:
    """The graph of a published checkpoint, as a user makes it."""
    source = checkpoint(folder / name)
    spec, graph = str(folder / f"{name}.specc"), folder / f"{name}-graph"
    assert main(["import", str(source), "-o", spec]) == 0
    assert main(["build", spec, "--to", "onnx", "-o", str(graph), "--weights", str(source)]) == 0
    return graph


@pytest.fixture
def ran(capsys: pytest.CaptureFixture):
    def run(graph: Path, *arguments: str) -> list[dict]:
        capsys.readouterr()
        assert main(["run", str(graph), "--provider", "cpu", "--format", "json", *arguments]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def test_sentence_embeddings(tmp_path: Path, ran):
    texts = EXPECTED["minilm"]["texts"]
    graph = made("minilm", minilm, tmp_path)
    found = ran(graph, *(argument for text in texts for argument in ("--text", text["text"])))
    for got, wanted in zip(found, texts, strict=True):
        hidden = np.array(got["last_hidden_state"])
        assert got["ids"] == wanted["ids"]
        assert distance(np.array(got["pooler_output"]), np.array(wanted["pooled"])) < TOLERANCE["float32"]
        assert distance(hidden[[0, -1], :16], np.array(wanted["ends"])) < TOLERANCE["float32"]


def test_greedy_continuations(tmp_path: Path, ran):
    prompts = EXPECTED["smollm2"]["prompts"]
    graph = made("smollm2", smollm2, tmp_path)
    given = [argument for prompt in prompts for argument in ("--ids", ",".join(map(str, prompt["ids"])))]
    expected = [prompt["new_ids"] for prompt in prompts]
    length = ("--max-new-tokens", str(len(expected[0])))
    assert [ran(graph, *given[at : at + 2], *length, "--fast-start")[0]["new_ids"] for at in (0, 2)] == expected
    assert [row["new_ids"] for row in ran(graph, *given, *length)] == expected
    assert [row["new_ids"] for row in ran(graph, *given, *length, "--chunk", "7")] == expected
