"""`[tool.specc]` and specc.toml: what they turn on and off, which of them holds, and what is no setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from specc.diagnostics.table.example import spec
from specc.resources import SPECS
from specc.tools.globs import matches
from specc.tools.lint.rules import RULES
from specc.tools.settings import Choice
from tests.faces.check_shell import Shell, check  # noqa: F401  a fixture

NARROW = spec(attention="attention(heads: 2, head_dim: 12)")  # LNT010
ODD = spec(vocab="65")  # LNT012, which is off


@pytest.mark.parametrize(("settings", "arguments", "codes"), [
    ("", [], ["LNT010"]),
    ("ignore = ['LNT010']", [], []),
    ("ignore = ['LNT']", [], []),
    ("ignore = ['LNT']", ["--select", "LNT010"], ["LNT010"]),
    ("select = ['LNT012']", [], ["LNT012", "LNT010"]),
    ("select = ['LNT012']\nignore = ['LNT']", [], ["LNT012"]),
    ("select = ['LNT012']\nignore = ['LNT012']", [], ["LNT010"]),
    ("select = ['LNT012']", ["--ignore", "LNT01"], []),
    ("", ["--select", "LNT012,LNT017"], ["LNT017", "LNT012", "LNT010"]),
    ("", ["--select", "LNT012", "--ignore", "LNT010"], ["LNT012"]),
    ("[per-file-ignores]\n'*.specc' = ['LNT010']", [], []),
    ("[per-file-ignores]\n'other/*' = ['LNT010']", [], ["LNT010"]),
    ("select = ['LNT012']\n[per-file-ignores]\n'm.specc' = ['LNT012']", [], ["LNT010"]),
    ("[per-file-ignores]\n'm.specc' = ['LNT']", ["--select", "LNT010"], ["LNT010"]),
])  # fmt: skip
def test_what_is_on(settings: str, arguments: list[str], codes: list[str], check: Shell) -> None:  # noqa: F811
    check.write(m=NARROW.replace("vocab     = 64", "vocab     = 65"))
    check.settings(settings)
    assert check.codes("m.specc", *arguments) == codes
    (check.folder / "specc.toml").unlink()
    table = settings.replace("[per-file-ignores]", "[tool.specc.per-file-ignores]")
    check.settings(f"[project]\nname = 'x'\n[tool.specc]\n{table}", "pyproject.toml")
    assert check.codes("m.specc", *arguments) == codes


def test_the_nearest_settings_hold(check: Shell) -> None:  # noqa: F811
    check.write(m=NARROW, inner__m=NARROW, inner__deep__m=NARROW)
    check.settings("ignore = ['LNT010']")
    assert check.codes(".") == []
    check.settings("[tool.specc]", "inner/pyproject.toml")
    assert check.codes(".") == ["LNT010", "LNT010"], "settings are not merged"
    check.settings("[tool.other]", "inner/deep/pyproject.toml")
    assert check.codes("inner/deep") == ["LNT010"], "one without a table of its own is passed over"
    check.settings("ignore = ['LNT']", "inner/specc.toml")
    assert check.codes(".") == [], "specc.toml goes first"
    check.settings("select = ['LNT012']", "given.toml")
    assert check.codes(".", "--config", "given.toml") == ["LNT010"] * 3


def test_checks_can_be_ignored_and_errors_cannot(check: Shell) -> None:  # noqa: F811
    check.write(m=spec("checks { depth == 3 }"))
    assert check("m.specc")[0] == 1
    assert check("m.specc", "--ignore", "CHK")[0] == 0
    for code in ("TYP", "NAM001", "SYN", "LNT003", "LNT005", "SYS"):
        status, out, err = check("m.specc", "--ignore", code)
        assert (status, out) == (2, "")
        assert f"SYS031: `{code}` is an error in what a spec says" in err


def test_strict(check: Shell) -> None:  # noqa: F811
    check.write(m=NARROW)
    assert check("m.specc")[0] == 0
    status, _, err = check("m.specc", "--strict")
    assert status == 1
    assert "error LNT010" in err
    check.settings("strict = true")
    assert check("m.specc")[0] == 1


def test_exclude(check: Shell) -> None:  # noqa: F811
    check.write(m=spec(), inner__bad="model {", draft_a="model {", **{".hidden__bad": "model {", "node_modules__bad": "model {"})
    assert check("m.specc", "inner")[0] == 1
    check.settings("exclude = ['inner', 'draft_*.specc']")
    assert check(".") == (0, "1 model checked, nothing wrong\n", "")
    assert check("inner/bad.specc")[0] == 1, "what is named is checked"
    assert check("inner/bad.specc", "m.specc", "--force-exclude")[0] == 0
    assert "SYS002" in check("inner")[2], "nothing is left of it"


@pytest.mark.parametrize(("settings", "said"), [
    ("selct = ['LNT']", "there is no setting called `selct`\n"),
    ("select = ['LNT099']", "no diagnostic has a code that begins with `LNT099`"),
    ("select = 'LNT'", "`select` is a list of strings"),
    ("ignore = [1]", "`ignore` is a list of strings"),
    ("ignore = ['VAL']", "`VAL` is an error in what a spec says, and cannot be ignored"),
    ("exclude = ['']", "`exclude` is a list of strings"),
    ("strict = 'yes'", "`strict` is true or false"),
    ("per-file-ignores = ['x']", "`per-file-ignores` is a table"),
    ("[per-file-ignores]\n'*' = ['SYN']", "`SYN` is an error"),
])  # fmt: skip
def test_what_is_no_setting(settings: str, said: str, check: Shell) -> None:  # noqa: F811
    check.write(m=spec())
    check.settings(settings)
    status, out, err = check("m.specc")
    assert (status, out) == (2, "")
    assert f"error SYS031: {said}" in err
    assert "specc.toml:" in err


def test_all_that_is_wrong_with_settings_is_said_with_its_line(check: Shell) -> None:  # noqa: F811
    check.write(m=spec())
    check.settings("[tool.ruff]\nselect = ['E']\n[tool.specc]\nselect = ['LNT099']\nstrct = true\n", "pyproject.toml")
    status, _, err = check("m.specc")
    assert status == 2
    assert "pyproject.toml:4:12: error SYS031: no diagnostic" in err
    assert "pyproject.toml:5:1: error SYS031: there is no setting called `strct`" in err
    assert "did you mean `strict`?" in err
    check.settings("[tool]\nspecc = 3", "pyproject.toml")
    assert "`specc` is a table of settings" in check("m.specc")[2]


@pytest.mark.parametrize("content", [b"select = [", b"\xff\xfe", None])
def test_settings_that_cannot_be_read(content: bytes | None, check: Shell) -> None:  # noqa: F811
    check.write(m=spec())
    file = check.folder / "given.toml"
    if content is not None:
        file.write_bytes(content)
    status, out, err = check("m.specc", "--config", file)
    assert (status, out) == (2, "")
    assert "error SYS030: " in err
    assert "given.toml" in err


def test_the_longest_beginning_decides() -> None:
    choice = Choice(("LNT", "LNT010"), ("LNT01", "LNT010", "CHK"))
    assert [choice.verdict(c) for c in ("LNT001", "LNT011", "LNT010", "CHK001", "VAL001")] == [True, False, False, False, None]


@pytest.mark.parametrize(("glob", "path", "fits"), [
    ("a.specc", "a.specc", True), ("a.specc", "x/a.specc", True), ("/a.specc", "x/a.specc", False), ("/a.specc", "a.specc", True),
    ("x", "x/y/a.specc", True), ("x/", "x/a.specc", True), ("x/*", "x/y/a.specc", True), ("x/*.specc", "x/y/a.specc", False),
    ("x/**/a.specc", "x/a.specc", True), ("x/**/a.specc", "x/y/z/a.specc", True), ("**/a.specc", "a.specc", True),
    ("*.specc", "x/y.specc", True), ("?.specc", "xy.specc", False), ("./x/a.specc", "x/a.specc", True), ("x", "xy/a.specc", False),
    ("a+(b)[c].specc", "a+(b)[c].specc", True), ("y/a.specc", "x/y/a.specc", False), ("**", "x/a.specc", True),
])  # fmt: skip
def test_patterns(glob: str, path: str, fits: bool, tmp_path: Path) -> None:
    assert matches(glob, tmp_path / path, tmp_path) is fits
    assert not matches(glob, tmp_path.parent / "elsewhere.specc", tmp_path)


def test_what_specc_brings_keeps_the_usual_rules(check: Shell) -> None:  # noqa: F811
    assert check.codes(SPECS / "models", SPECS / "std", "--ignore", "CHK") == []
    assert {code for code, rule in RULES.items() if not rule.default} == {"LNT011", "LNT012", "LNT016", "LNT017", "LNT018", "LNT019"}
