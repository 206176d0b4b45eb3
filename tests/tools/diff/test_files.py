"""Files and revisions: what is read from where, and which models are compared."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from specc.diagnostics import SpecError
from specc.diagnostics.table.example import family, spec
from specc.tools.diff.files import compare_sides, open_side
from specc.tools.diff.reason import Difference, Level


def git(*arguments: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True, timeout=60)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two commits: the used file's theta differs between them."""
    folder = tmp_path / "repo"
    (folder / "specs").mkdir(parents=True)
    monkeypatch.chdir(folder)
    git("init", "-q", "-b", "main")
    (folder / "specs" / "m.specc").write_text('use "base.specc"\nmodel n extends m { depth = 2 }\n')
    for theta in ("10_000", "20_000"):
        (folder / "specs" / "base.specc").write_text(spec(position=f"rope(theta: {theta})"))
        git("add", ".")
        git("commit", "-q", "-m", theta)
    return folder


def found(old: str, new: str, model: str | None = None) -> list[Difference]:
    return compare_sides(open_side(old), open_side(new), model)


@pytest.mark.parametrize("old", ["HEAD~1:specs/m.specc", "main~1:./specs/m.specc", "HEAD~1:specs/../specs/m.specc"])
def test_a_revision_is_read_as_a_whole(old: str, repository: Path) -> None:
    (difference,) = found(old, "specs/m.specc")
    assert difference.level == Level.COMPUTES
    (reason,) = (r for r in difference.reasons if r.category == "numerics")
    assert (reason.old_at, reason.new_at) == ("HEAD~1:specs/base.specc:6".replace("HEAD", old[:4]), "specs/base.specc:6")


def test_two_revisions_and_the_index(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found("HEAD:specs/m.specc", ":specs/m.specc")[0].level == Level.IDENTICAL
    (repository / "specs" / "base.specc").unlink()
    assert found("HEAD~1:specs/m.specc", "HEAD:specs/m.specc")[0].level == Level.COMPUTES
    monkeypatch.chdir(repository / "specs")
    assert found("HEAD~1:./m.specc", "HEAD:specs/m.specc")[0].level == Level.COMPUTES


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("HEAD:specs/none.specc", "does not exist in 'HEAD'"),
        ("nothing:specs/m.specc", "invalid object name 'nothing'"),
        ("HEAD:specs", "a folder"),
        ("--output=x:m.specc", "is no revision"),
        ("none.specc", "no such file"),
    ],
)
def test_what_cannot_be_read(argument: str, said: str, repository: Path) -> None:
    with pytest.raises(SpecError, match=said) as caught:
        open_side(argument)
    assert caught.value.diagnostics[0].code == "SYS001"


def test_a_path_from_the_wrong_folder_is_corrected(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository / "specs")
    with pytest.raises(SpecError, match="exists, but not") as caught:
        open_side("HEAD:m.specc")
    assert "'HEAD:./m.specc'" in str(caught.value.diagnostics[0].help)


def test_a_used_file_that_the_revision_lacks(repository: Path) -> None:
    (repository / "specs" / "m.specc").write_text('use "new.specc"\nmodel n extends m { depth = 2 }\n')
    git("add", "specs/m.specc")
    git("commit", "-q", "-m", "half")
    with pytest.raises(SpecError, match=r"cannot read HEAD:specs/new\.specc"):
        open_side("HEAD:specs/m.specc")


def test_outside_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(SpecError, match="not a git repository"):
        open_side("HEAD:m.specc")


def file(folder: Path, name: str, *texts: str) -> str:
    (folder / name).write_text("\n".join(texts))
    return str(folder / name)


def named(name: str, **fields: str) -> str:
    return spec(**fields).replace("model m", f"model {name}")


def test_models_are_matched_by_name(tmp_path: Path) -> None:
    old = file(tmp_path, "a.specc", named("one"), named("two"))
    new = file(tmp_path, "b.specc", named("two", mask="bidirectional"), named("one"), named("three"))
    assert [(d.name, d.level) for d in found(old, new)] == [("two", Level.COMPUTES), ("one", Level.IDENTICAL), ("three", Level.IDENTICAL)]
    assert found(old, new)[2].verdict == "new model"
    assert [(d.name, d.verdict) for d in found(new, old)][-1] == ("three", "breaking: the model is gone")
    assert [d.name for d in found(old, new, "one")] == ["one"]
    with pytest.raises(SpecError, match="neither side holds a model `on`"):
        found(old, new, "on")


def test_a_model_under_another_name(tmp_path: Path) -> None:
    old = file(tmp_path, "a.specc", named("one"))
    new = file(tmp_path, "b.specc", named("first"))
    assert [(d.name, d.level) for d in found(old, new)] == [("one -> first", Level.RENAMED)]
    old = file(tmp_path, "a.specc", named("one"), named("two", dim="32"))
    new = file(tmp_path, "b.specc", named("second", dim="32"), named("third", depth="3"))
    assert [(d.name, d.verdict) for d in found(old, new)] == [
        ("two -> second", "renamed only"), ("third", "new model"), ("one", "breaking: the model is gone"),
    ]  # fmt: skip


def test_families_are_compared_by_the_old_sample(tmp_path: Path) -> None:
    old = file(tmp_path, "a.specc", family())
    new = file(tmp_path, "b.specc", family(config={"hidden_size": "32"}))
    assert [(d.sample, d.level) for d in found(old, new)] == [(True, Level.IDENTICAL)]
    new = file(tmp_path, "b.specc", family(mask="bidirectional"))
    assert found(old, new)[0].level == Level.COMPUTES


def test_a_file_of_blocks_alone(tmp_path: Path) -> None:
    blocks = file(tmp_path, "a.specc", "block b(x) { x = x + ffn(x) }")
    with pytest.raises(SpecError, match="holds no model"):
        found(blocks, blocks)
