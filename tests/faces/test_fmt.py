"""`specc fmt` as a user meets it: what is written, what is only said, and the exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specc.faces.cli import main

UGLY, PRETTY = "model m {\n dim=64 # why\n\n\n}\n", "model m {\n  dim = 64  # why\n}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.specc").write_text(UGLY)
    (tmp_path / "b.specc").write_text(PRETTY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["fmt", *arguments])
    return status, *capsys.readouterr()


def test_it_writes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.specc").chmod(0o755)
    before = (folder / "b.specc").stat().st_mtime_ns
    assert run(capsys, ".") == (0, "formatted a.specc\n1 of 2 files changed\n", "")
    assert (folder / "a.specc").read_text() == PRETTY
    assert (folder / "a.specc").stat().st_mode & 0o777 == 0o755
    assert (folder / "b.specc").stat().st_mtime_ns == before, "what is right is not written again"
    assert run(capsys, "a.specc") == (0, "1 file in the canonical layout\n", "")


def test_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--check", ".") == (1, "would change a.specc\n1 of 2 files would change\n", "")
    assert run(capsys, "--check", "b.specc") == (0, "1 file in the canonical layout\n", "")
    assert (folder / "a.specc").read_text() == UGLY


def test_diff(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = "--- a.specc\n+++ a.specc (formatted)\n@@ -1,5 +1,3 @@\n model m {\n- dim=64 # why\n-\n-\n+  dim = 64  # why\n }\n"
    assert run(capsys, "--diff", ".") == (0, expected, "")
    assert run(capsys, "--diff", "--check", ".") == (1, expected, "")
    assert run(capsys, "--diff", "--check", "b.specc") == (0, "", "")
    assert (folder / "a.specc").read_text() == UGLY


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "--check", ".", "--format", "json")
    assert (status, json.loads(out)) == (1, {"files": 2, "changed": ["a.specc"], "written": False})
    status, out, _ = run(capsys, ".", "--format", "json")
    assert (status, json.loads(out)) == (0, {"files": 2, "changed": ["a.specc"], "written": True})


def test_what_does_not_parse_is_left_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "c.specc").write_text("model {")
    status, out, err = run(capsys, ".")
    assert (status, out) == (1, "")
    assert "c.specc:1:7: error SYN001" in err
    assert (folder / "c.specc").read_text() == "model {"
    assert (folder / "a.specc").read_text() == PRETTY, "the others are formatted all the same"
    assert run(capsys, "nothing.specc")[0] == 2


def test_a_link_stays_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "link.specc").symlink_to("a.specc")
    assert run(capsys, "link.specc")[0] == 0
    assert (folder / "link.specc").is_symlink()
    assert (folder / "a.specc").read_text() == PRETTY
