"""`specc verify --since`: the specs that changed, and those that use them; nothing is proven twice."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from specc.faces.cli import main
from specc.tools.verify.since import Cache, changed
from tests.ci.repository import TINY, Repository

USES = 'use "tiny.specc"\nmodel {0} extends tiny {{ depth = {1} }}\n'


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository(tmp_path)
    made.write("specs/tiny.specc", TINY)
    made.write("specs/deep.specc", USES.format("deep", 6))
    made.write("specs/alone.specc", TINY.replace("tiny", "alone"))
    made.commit("three specs")
    monkeypatch.chdir(tmp_path)
    return made


def names(repository: Repository, revision: str) -> list[str]:
    from specc.tools.verify import since

    since._used.cache_clear()
    return [path.stem for path in changed(revision, repository.folder, sorted(repository.folder.rglob("*.specc")))]


def test_what_changed(repository: Repository) -> None:
    assert names(repository, "HEAD") == []
    repository.edit("specs/alone.specc", ("depth   = 4", "depth   = 5"))
    assert names(repository, "HEAD") == ["alone"]
    repository.commit("deeper")
    assert (names(repository, "HEAD"), names(repository, "HEAD~1")) == ([], ["alone"])
    repository.edit("specs/tiny.specc", ("depth   = 4", "depth   = 5"))
    assert names(repository, "HEAD") == ["deep", "tiny"], "who uses it has changed too"
    repository.write("specs/new.specc", TINY)
    assert names(repository, "HEAD") == ["deep", "new", "tiny"], "a file that git does not know yet"
    (repository.folder / "specs" / "tiny.specc").unlink()
    assert names(repository, "HEAD") == ["deep", "new"], "it lost what it uses"


def test_a_branch_is_compared_with_where_it_left(repository: Repository) -> None:
    repository.git("switch", "--quiet", "--create", "change")
    repository.edit("specs/alone.specc", ("depth   = 4", "depth   = 5"))
    repository.commit("on the branch")
    repository.git("switch", "--quiet", "main")
    repository.edit("specs/tiny.specc", ("depth   = 4", "depth   = 5"))
    repository.commit("on main")
    repository.git("switch", "--quiet", "change")
    assert names(repository, "main") == ["alone"]


@pytest.mark.parametrize("revision", ["nothing", "--all", "HEAD:specs", ""])
def test_no_such_revision(revision: str, repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", f"--since={revision}"]) == 2
    assert "SYS032" in capsys.readouterr().err


def test_no_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.specc").write_text(TINY)
    assert main(["verify", str(tmp_path), "--since", "HEAD"]) == 2
    assert "lies in no git repository" in capsys.readouterr().err


def test_nothing_to_verify(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify"]) == 2
    assert "give --since REV" in capsys.readouterr().err


def test_proofs_are_kept(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--since", "HEAD"]) == 0
    assert capsys.readouterr().out == "no spec changed since HEAD\n"
    repository.edit("specs/alone.specc", ("theta: 10_000", "theta: 500_000"))
    assert main(["verify", "specs", "--since", "HEAD"]) == 0
    assert capsys.readouterr().out == "alone  ok  (specs/alone.specc)\n"
    repository.edit("specs/alone.specc", ("## The model", "## Another model"))
    repository.write("specs/same.specc", TINY.replace("model tiny", "model same").replace("theta: 10_000", "theta: 500_000"))
    assert main(["verify", "specs", "--since", "HEAD", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["models"]
    assert [(m["model"], m["ok"], m["cached"]) for m in found] == [("alone", True, True), ("same", True, True)]
    assert ".specc_cache" not in repository.git("status", "--porcelain")


def test_adapters_are_proved_too(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write("specs/bot.specc", 'adapter bot for "alone.specc" { ia3(after: [attention.k]) }')
    assert main(["verify", "--since", "HEAD"]) == 0
    assert capsys.readouterr().out == "bot  ok  (specs/bot.specc)\n"
    repository.commit("an adapter")
    assert names(repository, "HEAD") == []
    repository.edit("specs/alone.specc", ("## The model", "## Another model"))
    assert names(repository, "HEAD") == ["alone", "bot"], "what it lies over has changed"
    assert main(["verify", "specs/bot.specc", "--since", "HEAD"]) == 0
    assert capsys.readouterr().out == "bot  ok, proven before  (specs/bot.specc)\n"


def test_a_kept_proof_needs_nothing_heavy(repository: Repository) -> None:
    from specc.faces.loading import one_model
    from specc.ir.fingerprint import fingerprint

    repository.edit("specs/alone.specc", ("theta: 10_000", "theta: 500_000"))
    Cache(repository.folder / "kept", 0).keep(fingerprint(one_model("specs/alone.specc").model), "alone")
    program = (
        "import sys; from specc.faces.cli import main; status = main(['verify', '--since', 'HEAD', '--cache', 'kept']); "
        "print(status, 'torch' in sys.modules, 'onnxruntime' in sys.modules)"
    )
    done = repository.run(sys.executable, "-c", program)
    assert done.stdout.splitlines() == ["alone  ok, proven before  (specs/alone.specc)", "0 False False"]


def test_a_proof_of_another_compiler_or_seed_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Cache(tmp_path, 0).keep("f", "m")
    assert Cache(tmp_path, 0).holds("f")
    assert not Cache(tmp_path, 1).holds("f")
    monkeypatch.setattr("specc.tools.verify.since.compiler", lambda: "another")
    assert not Cache(tmp_path, 0).holds("f")


def test_a_spec_with_errors(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.edit("specs/alone.specc", ("causal", "casual"))
    assert main(["verify", "--since", "HEAD"]) == 1
    out, err = capsys.readouterr()
    assert "NAM001" in err
    assert "no spec changed" not in out


def test_a_proof_that_fails_is_shown_and_not_kept(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from specc.tools.verify.compare import Row
    from specc.tools.verify.run import Proof

    row = Row("whole pass", "ONNX Runtime", "PyTorch", 0.5, 1e-5)
    monkeypatch.setattr("specc.tools.verify.run.verify_miniature", lambda model, seed: Proof(model.name, "a miniature", (row,)))
    repository.edit("specs/alone.specc", ("theta: 10_000", "theta: 500_000"))
    for _ in range(2):
        assert main(["verify", "--since", "HEAD"]) == 1
        assert "alone  WRONG" in capsys.readouterr().out
    assert main(["verify", "--since", "HEAD", "--format", "github"]) == 1
    assert "::error file=specs/alone.specc,title=specc verify::alone: the back ends" in capsys.readouterr().out
