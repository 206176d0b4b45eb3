"""The hooks, read and run by pre-commit itself; what is installed here stands in for the environment that it would make."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml
from pre_commit.clientlib import load_manifest

from specc.faces.cli import COMMANDS
from tests.ci.repository import TINY, Repository
from tests.ci.workflow import ROOT

MANIFEST = ROOT / ".pre-commit-hooks.yaml"
HOOKS = {hook["id"]: hook for hook in load_manifest(str(MANIFEST))}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path)
    made.write("specs/tiny.specc", TINY)
    made.write("third_party/bad.specc", "model {")
    made.write("specc.toml", "exclude = ['third_party']\n")
    kept = ("id", "name", "entry", "files", "require_serial")
    local = [{name: HOOKS[hook][name] for name in kept} | {"language": "system"} for hook in ("specc-fmt", "specc-check")]
    made.write(".pre-commit-config.yaml", yaml.safe_dump({"repos": [{"repo": "local", "hooks": local}]}))
    made.commit("the first spec")
    return made


def hooked(repository: Repository, *arguments: str) -> tuple[int, str]:
    home = str(repository.folder / ".git" / "pre-commit")
    done = repository.run(sys.executable, "-m", "pre_commit", "run", "--color", "never", *arguments, PRE_COMMIT_HOME=home)
    return done.returncode, done.stdout + done.stderr


def test_the_hooks_are_those_of_the_page() -> None:
    page = (ROOT / "docs" / "ci.md").read_text()
    assert sorted(HOOKS) == ["specc-check", "specc-fmt"]
    assert all(f"- id: {hook}\n" in page for hook in HOOKS)
    assert all(hook["language"] == "python" for hook in HOOKS.values())
    assert {hook["entry"].split()[1] for hook in HOOKS.values()} <= COMMANDS.keys()


def test_only_what_changed_is_checked(repository: Repository) -> None:
    status, said = hooked(repository, "--all-files")
    assert (status, said.count("Passed")) == (0, 2), said
    repository.write("notes.txt", "no spec")
    repository.git("add", "--all")
    assert "no files to check" in hooked(repository)[1]
    repository.edit("specs/tiny.specc", ("heads: 4", "heads: 5"))
    repository.git("add", "--all")
    status, said = hooked(repository)
    assert status == 1
    assert "specs/tiny.specc:13:" in said
    assert "SHP001" in said
    assert "bad.specc" not in said, "what is excluded stays out, though pre-commit names files"


def test_what_is_not_in_the_layout_is_written_anew(repository: Repository) -> None:
    repository.edit("specs/tiny.specc", ("  dim     = 64", "  dim=64"))
    repository.git("add", "--all")
    status, said = hooked(repository)
    assert status == 1
    assert "files were modified by this hook" in said
    assert repository.git("diff", "HEAD") == ""
