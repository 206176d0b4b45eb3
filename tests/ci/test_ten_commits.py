"""A repository with ten commits, good and bad: what CI says of each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.ci.repository import TINY, Repository

SPEC, SMALL = "specs/tiny.specc", "specs/small.specc"
EXTENDS = """\
use "tiny.specc"

## Twice as wide
model small extends tiny {
  dim       = 128
  attention = attention(heads: 8, kv_heads: 2)

  checks { params <= 1M }
}
"""
LONG = "rope(theta: 10_000, scaling: yarn(factor: 4, original: 256))"


@dataclass(frozen=True)
class Commit:
    """One change, and what is to be said of it: `codes` by check, `level` by diff with the commit before (None: not compared)."""

    message: str
    changes: tuple[tuple[str, str], ...]
    codes: tuple[str, ...]
    level: str | None
    new: tuple[str, str] | None = None


COMMITS = (
    Commit("the first spec", (), (), None, new=(SPEC, TINY)),
    Commit("a better description", (("## The model of these tests", "## A model to try things on"),), (), "renamed"),
    Commit("a longer context", (("context = 256", "context = 512"),), (), "unchanged"),
    Commit("the base of rope, by the way", (("theta: 10_000", "theta: 500_000"),), (), "computes"),
    Commit("wider, over the budget", (("hidden: 192", "hidden: 256"),), ("CHK001",), "breaking"),
    Commit("the budget follows", (("229_952", "279_104"),), (), "unchanged"),
    Commit("a slip of the finger", (("eps: 1e-5", "epsilon: 1e-5"),), ("NAM002",), None),
    Commit("mended, and a tensor renamed", (("epsilon: 1e-5", "eps: 1e-5"), ("input_layernorm", "ln_1")), (), None),
    Commit("a wider one beside it", (), (), "identical", new=(SMALL, EXTENDS)),
    Commit("a scaling too short", (("rope(theta: 500_000)", LONG), ("context = 512", "context = 4096")), ("LNT014",), "computes"),
)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, list[str]]:
    repository = Repository(tmp_path_factory.mktemp("history"))
    revisions = []
    for commit in COMMITS:
        if commit.new is not None:
            repository.write(*commit.new)
        if commit.changes:
            repository.edit(SPEC, *commit.changes)
        revisions.append(repository.commit(commit.message))
    return repository, revisions


def at(history: tuple[Repository, list[str]], number: int) -> Repository:
    repository, revisions = history
    repository.git("checkout", "--quiet", revisions[number])
    return repository


NUMBERED = [pytest.param(n, commit, id=commit.message.replace(" ", "-")) for n, commit in enumerate(COMMITS)]


@pytest.mark.parametrize(("number", "commit"), NUMBERED)
def test_check(number: int, commit: Commit, history: tuple[Repository, list[str]]) -> None:
    done = at(history, number).specc("check", "specs", "--format", "json")
    found = json.loads(done.stdout)
    assert [f["code"] for f in found] == [*commit.codes]
    assert done.returncode == any(f["severity"] == "error" for f in found)


@pytest.mark.parametrize(("number", "commit"), [p for p in NUMBERED if p.values[1].level is not None])
def test_diff(number: int, commit: Commit, history: tuple[Repository, list[str]]) -> None:
    repository = at(history, number)
    done = repository.specc("diff", f"HEAD~1:{SPEC}", SPEC, "--format", "json", "--fail-on", "computes")
    assert json.loads(done.stdout)["level"] == commit.level
    assert done.returncode == (commit.level not in ("identical", "renamed", "unchanged"))


def test_a_renamed_tensor_is_convertible(history: tuple[Repository, list[str]]) -> None:
    """The commit before it cannot be read; the last one that can is compared."""
    done = at(history, 7).specc("diff", f"HEAD~2:{SPEC}", SPEC, "--fail-on", "convertible")
    assert done.returncode == 1
    assert "rename the tensor" in done.stdout


def test_the_slip_is_mended_by_itself(history: tuple[Repository, list[str]]) -> None:
    repository = at(history, 6)
    assert repository.specc("check", "specs", "--fix").returncode == 0
    assert repository.git("diff", "HEAD~1", "--", SPEC) == ""
    repository.git("checkout", "--quiet", "--", ".")


def test_a_strict_house_stops_at_the_last(history: tuple[Repository, list[str]]) -> None:
    repository = at(history, 9)
    assert repository.specc("check", "specs").returncode == 0
    assert repository.specc("check", "specs", "--strict").returncode == 1
    Path(repository.folder / "specc.toml").write_text("strict = true\n")
    assert repository.specc("check", "specs").returncode == 1
    Path(repository.folder / "specc.toml").unlink()
