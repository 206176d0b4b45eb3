"""`specc diff`: what is printed in each format, and the exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specc.diagnostics.table.example import spec
from specc.faces.cli import main


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "a.specc").write_text(spec())
    (tmp_path / "b.specc").write_text(spec(position="rope(theta: 20_000)"))
    return str(tmp_path / "a.specc"), str(tmp_path / "b.specc")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["diff", *arguments])
    return status, *capsys.readouterr()


def test_text(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    old, new = files
    status, out, err = printed(capsys, old, new)
    assert (status, err) == (0, "")
    assert out == (
        "m: loads but computes something else\n"
        "Existing checkpoints still load without an error, and the numbers are others.\n"
        "\n"
        "numerics\n"
        f"  layers[i].position.theta  10_000 -> 20_000  ({old}:6, {new}:6)\n"
        "\n"
        "the same as before: state dict, ONNX inputs and outputs, cache, counts\n"
    )
    assert printed(capsys, old, old) == (0, "m: identical\nThe two texts mean the same.\n", "")


def test_json(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    old, new = files
    status, out, _ = printed(capsys, old, new, "--format", "json")
    found = json.loads(out)
    assert (status, found["level"], found["old"], found["new"]) == (0, "computes", old, new)
    (reason,) = found["models"][0]["reasons"]
    assert (reason["path"], reason["pointer"]) == ("layers[i].position.theta", "/stacks/0/layers/0/position/theta")
    main(["ir", old])
    value = json.loads(capsys.readouterr().out)
    for step in reason["pointer"].split("/")[1:]:
        value = value[int(step) if isinstance(value, list) else step]
    assert value == 10_000, "the pointer leads to the value in `specc ir`"


def test_markdown(files: tuple[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    old, new = files
    (tmp_path / "b.specc").write_text(spec("weights hf {", ' embed.tokens = "a" | "b"', "}", position="rope(theta: 20_000)"))
    (tmp_path / "a.specc").write_text(spec("weights hf {", ' embed.tokens = "a"', "}"))
    out = printed(capsys, old, new, "--format", "markdown")[1].splitlines()
    assert out[:5] == [f"## specc diff: `{old}` to `{new}`", "", "### `m`: loads but computes something else", "",
                       "Existing checkpoints still load without an error, and the numbers are others."]  # fmt: skip
    rows = [line for line in out if line.startswith("|")]
    assert rows[0].count("|") == rows[1].count("|") == 6
    assert all(row.replace("\\|", "").count("|") == 6 for row in rows), "a bar inside a cell is no border"
    assert any("`layers[i].position.theta`" in row for row in rows)


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        ({}, ()),
        ({"context": "64"}, ("renamed", "unchanged")),
        ({"position": "rope(theta: 20_000)"}, ("renamed", "unchanged", "computes")),
        ({"attention": "attention(heads: 2, bias: true)"}, ("renamed", "unchanged", "computes", "convertible")),
        ({"depth": "3"}, ("renamed", "unchanged", "computes", "convertible", "breaking")),
    ],
)
def test_the_level_that_fails(
    change: dict[str, str], fails: tuple[str, ...], files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = files
    Path(new).write_text(spec(**change))
    for level in ("renamed", "unchanged", "computes", "convertible", "breaking"):
        assert printed(capsys, old, new, "--fail-on", level)[0] == int(level in fails), level


def test_what_is_wrong_with_a_side_is_said(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    old, new = files
    Path(new).write_text(spec(mask="casual"))
    for format in ("text", "markdown"):
        status, out, err = printed(capsys, old, new, "--format", format)
        assert (status, out) == (1, "")
        assert f"{new}:7:" in err and "NAM001" in err
    assert printed(capsys, old, "nothing.specc")[0] == 2
    with pytest.raises(SystemExit):
        main(["diff", old])
