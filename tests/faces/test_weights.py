"""`specc weights` as it is typed, and its progress bar."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from specc.faces import progress
from specc.faces.cli import main
from specc.weights.checkpoint import open_checkpoint
from tests.tools.runtime.built import built, checkpoint, spec

pytest.importorskip("transformers")
SPEC = """model m {
  vocab = 64  dim = 16  depth = 2
  position = rope(theta: 10_000)  mask = causal  norm = rms(eps: 1e-5)
  attention = attention(heads: 2, kv_heads: 1)
  ffn = gated(hidden: 32, activation: silu)
  block = pre_norm  head = lm(tied: false)
}
"""


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "m.specc"
    path.write_text(SPEC)
    return str(path)


def bytes_of(folder: Path) -> dict[str, bytes]:
    tensors = open_checkpoint(folder).tensors.values()
    return {t.name: t.file.read_bytes()[t.offset : t.offset + t.length] for t in tensors}


def test_random_weights_follow_the_seed(small: str, tmp_path: Path, capsys: pytest.CaptureFixture):
    for name, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        assert main(["weights", "init", small, "-o", str(tmp_path / name), "--seed", seed]) == 0
        assert capsys.readouterr() == (f"{tmp_path / name / 'weights.safetensors'}\n", "")
    a, b, c = ((tmp_path / name / "weights.safetensors").read_bytes() for name in "abc")
    assert a == b != c


@pytest.mark.parametrize("dtype, name, size", [("fp32", "F32", 4), ("fp16", "F16", 2), ("bf16", "BF16", 2)])
def test_types(small: str, tmp_path: Path, dtype: str, name: str, size: int):
    main(["weights", "init", small, "-o", str(tmp_path), "--how", "zeros", "--dtype", dtype])
    tensors = open_checkpoint(tmp_path).tensors
    assert {t.dtype for t in tensors.values()} == {name}
    assert all(t.length == np.prod(t.shape) * size for t in tensors.values())
    assert not any(any(data) for data in bytes_of(tmp_path).values())


def test_as_json(small: str, tmp_path: Path, capsys: pytest.CaptureFixture):
    main(["weights", "init", small, "-o", str(tmp_path), "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert found == {"file": str(tmp_path / "weights.safetensors"), "bytes": (tmp_path / "weights.safetensors").stat().st_size}


@pytest.mark.parametrize("kind", ["llama", "gpt2", "bert"])
def test_to_own_and_back(kind: str, tmp_path: Path):
    published, own, again = checkpoint(kind), tmp_path / "own", tmp_path / "again"
    assert main(["weights", "convert", str(spec(kind)), str(published), "-o", str(own), "--to", "own"]) == 0
    assert main(["weights", "convert", str(spec(kind)), str(own), "-o", str(again), "--to", "published"]) == 0
    assert (own / "weights.safetensors").is_file() and (again / "model.safetensors").is_file()
    # a bare encoder is saved without the root that the published files of its family have
    assert {name.removeprefix("bert."): data for name, data in bytes_of(again).items()} == bytes_of(published)


def test_converted_weights_run_as_the_published_ones(tmp_path: Path, capsys: pytest.CaptureFixture):
    pytest.importorskip("onnxruntime")
    main(["weights", "convert", str(spec("gpt2")), str(checkpoint("gpt2")), "-o", str(tmp_path), "--to", "own"])
    main(["build", str(spec("gpt2")), "--to", "onnx", "-o", str(tmp_path / "graph"), "--weights", str(tmp_path)])
    found = []
    for folder in (tmp_path / "graph", built("gpt2")):
        capsys.readouterr()
        assert main(["run", str(folder), "--ids", "4,5,6", "--max-new-tokens", "8", "--provider", "cpu"]) == 0
        found.append(capsys.readouterr().out)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "arguments, code, status",
    [
        (["init", "{tmp}/none.specc", "-o", "{tmp}"], "SYS001", 2),
        (["init", "{spec}", "-o", "{spec}/x"], "SYS005", 2),
        (["convert", "{spec}", "{tmp}/none", "-o", "{tmp}", "--to", "own"], "WGT002", 1),
        (["convert", "{spec}", "{tmp}/w", "-o", "{tmp}", "--to", "published"], "WGT017", 1),
    ],
)
def test_wrong_use(small: str, tmp_path: Path, capsys: pytest.CaptureFixture, arguments: list[str], code: str, status: int):
    main(["weights", "init", small, "-o", str(tmp_path / "w")])
    capsys.readouterr()
    assert main(["weights", *(a.format(tmp=tmp_path, spec=small) for a in arguments)]) == status
    assert capsys.readouterr().err.startswith(f"error {code}: ")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def drawn(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, seconds: float) -> str:
    times = iter([0.0, seconds, seconds, seconds])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))
    monkeypatch.setattr("sys.stderr", stream)
    bar = progress.Progress("writing")
    bar("a", 10**9, 2 * 10**9)
    bar("b", 2 * 10**9, 2 * 10**9)
    return stream.getvalue()


def test_a_bar_shows_after_two_seconds_on_a_terminal(monkeypatch: pytest.MonkeyPatch):
    half, full = "#" * 15 + " " * 15, "#" * 30
    assert drawn(monkeypatch, Terminal(), 3.0) == f"\rwriting [{half}]  50% of 2.0 GB\rwriting [{full}] 100% of 2.0 GB\n"


@pytest.mark.parametrize("stream, seconds", [(Terminal(), 1.0), (io.StringIO(), 3.0)])
def test_no_bar_for_short_work_or_without_a_terminal(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, seconds: float):
    assert drawn(monkeypatch, stream, seconds) == ""
