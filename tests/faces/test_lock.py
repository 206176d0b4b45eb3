"""`specc lock` and `specc check --locked` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specc.diagnostics.table.example import spec
from specc.faces.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "specs").mkdir()
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "specs" / "m.specc").write_text(spec())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(list(arguments))
    return status, *capsys.readouterr()


def test_from_nothing_to_a_finding(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "check", "--locked", "specs")
    assert status == 1
    assert "error LCK001: there is no specc.lock" in err
    assert run(capsys, "lock", "specs") == (0, "specc.lock: 1 model of 1 spec locked (1 new)\n", "")
    assert run(capsys, "check", "--locked", "specs") == (0, "1 model checked, nothing wrong\n", "")
    assert run(capsys, "lock", "--check") == (0, "1 model checked, all as locked\n", "")
    (folder / "specs" / "m.specc").write_text(spec(position="rope(theta: 20_000)"))
    for arguments in (("check", "--locked", "specs"), ("lock", "--check")):
        status, out, err = run(capsys, *arguments)
        assert (status, out) == (1, "")
        assert err == (
            "specs/m.specc:1:7: error LCK004: `m` computes something else than what was locked: layers[i].position was"
            " rope(theta: 10_000, layout: half) and is rope(theta: 20_000, layout: half)\n"
            "  1 | model m {\n"
            "    |       ^\n"
            "  = help: if this is meant, run `specc lock` and commit specc.lock\n"
        )
    assert run(capsys, "lock") == (0, "specc.lock: 1 model of 1 spec locked (1 changed)\n", "")
    assert run(capsys, "lock") == (0, "specc.lock: 1 model of 1 spec locked (nothing has changed)\n", "")


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run(capsys, "lock", "--format", "json")[1])
    assert found == {"lock": "specc.lock", "models": 1, "new": 1, "changed": 0, "gone": 0}
    assert run(capsys, "lock", "--check", "--format", "json") == (0, "[]\n", "")
    (folder / "specs" / "m.specc").write_text(spec(mask="bidirectional"))
    status, out, _ = run(capsys, "lock", "--check", "--format", "json")
    assert (status, [d["code"] for d in json.loads(out)]) == (1, ["LCK004"])


def test_a_broken_spec_writes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "specs" / "m.specc").write_text(spec(mask="casual"))
    status, out, err = run(capsys, "lock", "specs")
    assert (status, out) == (1, "")
    assert "NAM001" in err
    assert not (folder / "specc.lock").exists()


def test_from_another_folder(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(capsys, "lock")[0] == 0
    monkeypatch.chdir(folder / "specs")
    assert run(capsys, "check", "--locked", "m.specc")[0] == 0
    assert run(capsys, "lock", "--check") == (0, "1 model checked, all as locked\n", "")
    assert not (folder / "specs" / "specc.lock").exists()
    assert run(capsys, "lock", "nothing.specc")[0] == 2


def test_a_file_that_is_gone_is_taken_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "specs" / "n.specc").write_text(spec())
    assert run(capsys, "lock", "specs", "specs/n.specc")[0] == 0
    (folder / "specs" / "n.specc").unlink()
    assert "LCK003" in run(capsys, "check", "--locked", "specs")[2]
    assert run(capsys, "lock", "specs/n.specc") == (0, "specc.lock: 1 model of 1 spec locked (1 gone)\n", "")
    assert run(capsys, "lock", "specs/n.specc")[0] == 2, "it was never there"
