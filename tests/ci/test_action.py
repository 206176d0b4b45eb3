"""The action and the documented workflows: valid, and run step by step over a repository that changes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.ci.repository import ENVIRONMENT, TINY, Repository
from tests.ci.workflow import ROOT, Runner

PAGE = (ROOT / "docs" / "ci.md").read_text()
BLOCKS = dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", PAGE, re.DOTALL))
SPEC = "specs/tiny.specc"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A spec on main, as origin has it too, and a branch off it."""
    (tmp_path / "repository").mkdir()
    made = Repository(tmp_path / "repository")
    made.write(SPEC, TINY)
    made.git("update-ref", "refs/remotes/origin/main", made.commit("the first spec"))
    made.git("switch", "--quiet", "--create", "change")
    return made


@pytest.fixture
def runner(repository: Repository, tmp_path: Path) -> Runner:
    return Runner(repository, tmp_path / "runner")


@pytest.mark.parametrize(("schema", "name"), [
    ("github-actions", "action.yml"),
    ("github-workflows", ".github/workflows/specs.yml"),
    ("github-workflows", ".github/workflows/specs-by-hand.yml"),
    ("github-workflows", ".github/workflows/proofs.yml"),
    ("gitlab-ci", ".gitlab-ci.yml"),
])  # fmt: skip
def test_what_is_shown_keeps_its_schema(schema: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / Path(name).name
    file.write_text(BLOCKS[name] if name in BLOCKS else (ROOT / name).read_text())
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(file)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


def test_the_page_names_every_input_it_uses() -> None:
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    for given in re.findall(r"uses: OWNER/specc@\S+\n\s+with:\n((?:\s{10}\S.*\n)+)", PAGE):
        assert set(yaml.safe_load(given)) <= set(inputs)


# ---- the workflow over changes


@pytest.mark.parametrize(("changes", "status", "said"), [
    ([("## The model", "## A model")], 0, "renamed only"),
    ([("context = 256", "context = 512")], 0, "loads unchanged"),
    ([("theta: 10_000", "theta: 500_000")], 1, "loads but computes something else"),
    ([("input_layernorm", "ln_1")], 1, "convertible"),
    ([("hidden: 192", "hidden: 256"), ("229_952", "279_104")], 1, "breaking"),
    ([("hidden: 192", "hidden: 256")], 1, "::error file=specs/tiny.specc,line=19,col=5,endLine=19,endColumn=21,title=specc CHK001::"),
    ([("hidden: 192", "hiden: 192")], 1, "title=specc NAM002::`gated` has no field `hiden`%0Ahelp: did you mean `hidden`?"),
])  # fmt: skip
def test_the_documented_workflow(changes: list[tuple[str, str]], status: int, said: str, runner: Runner) -> None:
    runner.repository.edit(SPEC, *changes)
    runner.repository.commit("a change")
    assert runner.workflow(BLOCKS[".github/workflows/specs.yml"]) == status
    assert said in "".join(runner.said)
    assert runner.installed == [f"--quiet {ROOT}"]
    assert runner.summary.exists() == (not said.startswith(("::", "title"))), "a spec that is wrong is not compared"


def test_the_documented_workflow_over_no_change(runner: Runner) -> None:
    assert runner.workflow(BLOCKS[".github/workflows/specs.yml"]) == 0
    assert "::" not in "".join(runner.said)
    assert not runner.summary.exists()


def test_the_summary_is_for_people(runner: Runner) -> None:
    runner.repository.edit(SPEC, ("theta: 10_000", "theta: 500_000"))
    runner.repository.write("specs/second.specc", TINY.replace("tiny", "second"))
    runner.repository.commit("a change")
    runner.workflow(BLOCKS[".github/workflows/specs.yml"])
    summary = runner.summary.read_text()
    assert "500_000" in summary
    assert "second" not in summary, "a new spec changes nothing for anyone"


def test_by_hand(runner: Runner) -> None:
    text = BLOCKS[".github/workflows/specs-by-hand.yml"]
    assert runner.workflow(text) == 0
    assert runner.installed == ["specc-compiler"]
    assert json.loads((runner.repository.folder / "specc.sarif").read_text())["runs"][0]["results"] == []
    runner.repository.edit(SPEC, ("eps: 1e-5", "epsilon: 1e-5"))
    assert runner.workflow(text) == 1
    assert len(json.loads((runner.repository.folder / "specc.sarif").read_text())["runs"][0]["results"]) == 1
    assert runner.done[-1].startswith("specc check --format github")
    runner.repository.write(SPEC, TINY.replace("theta: 10_000", "theta: 500_000"))
    assert runner.workflow(text) == 1
    assert runner.done[-1].startswith("specc diff origin/main")


def test_gitlab(runner: Runner) -> None:
    script = yaml.safe_load(BLOCKS[".gitlab-ci.yml"])["specs"]["script"]
    step = {"run": "\n".join(line for line in script)}
    runner.place.joinpath("bin", "extra").write_text("")
    assert runner._run(step, {}) == 0
    runner.repository.edit(SPEC, ("hidden: 192", "hidden: 256"))
    assert runner._run(step, {}) == 1
    (issue,) = json.loads((runner.repository.folder / "gl-code-quality-report.json").read_text())
    assert issue["location"] == {"path": SPEC, "lines": {"begin": 19, "end": 19}}
    assert "CHK001" in (runner.repository.folder / "specc.xml").read_text()


# ---- the action's inputs


def test_every_input(runner: Runner) -> None:
    runner.repository.edit(SPEC, ("vocab   = 512", "vocab   = 511"), ("229_952", "229_888"))
    assert runner.action({"version": "0.1.0", "paths": "specs specs/tiny.specc", "args": "--strict"}) == 0
    assert runner.installed == ["--quiet specc-compiler==0.1.0"]
    assert runner.action({"args": "--strict --select LNT012"}) == 1
    assert "::error file=specs/tiny.specc,line=5" in runner.said[-1]
    assert runner.action({"args": "--select LNT012", "format": "sarif", "output": "out.sarif"}) == 0
    assert json.loads((runner.repository.folder / "out.sarif").read_text())["runs"][0]["results"]
    for level, status in (("never", 0), ("breaking", 1), ("computes", 1)):
        assert runner.action({"against": "origin/main", "fail-on": level}) == status


HOSTILE = """specs; touch broken $(touch broken) `touch broken` "; touch broken #' ; touch broken\ntouch broken\n"""


@pytest.mark.parametrize("names", [("version", "paths"), ("args", "format", "output"), ("output",), ("against", "fail-on")])
def test_inputs_are_no_part_of_a_script(names: tuple[str, ...], runner: Runner) -> None:
    runner.action(dict.fromkeys(names, HOSTILE))
    assert not (runner.repository.folder / "broken").exists()


def test_a_folder_whose_name_has_blanks(runner: Runner) -> None:
    runner.repository.write("specs/with blank.specc", TINY.replace("tiny", "other"))
    runner.repository.git("update-ref", "refs/remotes/origin/main", runner.repository.commit("another"))
    runner.repository.edit("specs/with blank.specc", ("theta: 10_000", "theta: 500_000"))
    assert runner.action({"against": "origin/main"}) == 1
    assert "500_000" in runner.summary.read_text()
