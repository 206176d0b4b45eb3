"""`specc run` with an adapter: the numbers of PyTorch, step by step, and another adapter over the same graph."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from specc.faces.cli import main
from tests.adapter.made import make
from tests.adapter.models import TINY

PROMPT = [5, 17, 3, 44]


def greedy(model: torch.nn.Module, count: int) -> list[int]:
    ids = list(PROMPT)
    with torch.no_grad():
        for _ in range(count):
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
    return ids[len(PROMPT) :]


@pytest.mark.parametrize("body", ["lora(rank: 3, alpha: 30, targets: [attention, ffn])", "prefix(length: 3)", "prompt(length: 2)"])
def test_the_tokens_of_pytorch(tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str):
    made = make(tmp_path, TINY, body)
    made.onnx()

    def run(*more: str) -> list[int]:
        capsys.readouterr()
        given = ["--ids", ",".join(map(str, PROMPT)), "--max-new-tokens", "8", "--chunk", "3", "--provider", "cpu", "--format", "json"]
        assert main(["run", str(tmp_path / "out"), *given, *more]) == 0
        return json.loads(capsys.readouterr().out)[0]["new_ids"]

    assert run("--adapter", str(tmp_path / "out" / "a.onnx_adapter")) == greedy(made.model, 8)
    made.over.enabled = False
    assert run() == greedy(made.model, 8)


def test_a_file_that_is_no_adapter_of_the_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    make(tmp_path, TINY, "lora(rank: 3, targets: [attention.q])").onnx()
    other = tmp_path / "other"
    other.mkdir()
    make(other, TINY, "lora(rank: 3, targets: [attention.k])").onnx()
    (tmp_path / "bad.onnx_adapter").write_bytes(b"no adapter")
    for file in (other / "out" / "a.onnx_adapter", tmp_path / "bad.onnx_adapter", tmp_path / "none.onnx_adapter"):
        assert main(["run", str(tmp_path / "out"), "--ids", "1,2", "--provider", "cpu", "--adapter", str(file)]) == 2
        assert "SYS021" in capsys.readouterr().err
