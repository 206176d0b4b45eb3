"""`.specc` files in pytest: what is collected, what fails and how it looks, and that nothing happens where there are none."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from specc import pytest_items
from specc.faces.cli import main
from specc.tools.adapters import verify as adapter_verify
from specc.tools.settings import forget
from specc.tools.verify.compare import Row
from specc.tools.verify.run import Proof
from tests.ci.repository import ENVIRONMENT, TINY

pytest_plugins = ("pytester",)

OVER = TINY.replace("hidden: 192", "hidden: 256")
SECOND = TINY.replace("model tiny", "model other").replace("params == 229_952", "params < 1k").partition("\n\n")[2]
QUIET = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:xdist", "-q")


class Project:
    """A folder with a spec and a test, in which pytest is run within this process."""

    def __init__(self, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
        self.pytester, self.capsys = pytester, capsys
        self.write("pytest.ini", "[pytest]\naddopts = --strict-markers --strict-config\nfilterwarnings = error\n")
        self.write("test_it.py", "def test_it(): pass\n")
        self.write("specs/tiny.specc", TINY)

    def write(self, name: str, text: str) -> None:
        path = self.pytester.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        forget()

    def run(self, *arguments: str) -> tuple[int, str]:
        """-> the status, and what was printed."""
        done = self.pytester.runpytest_inprocess(*QUIET, *arguments)
        self.capsys.readouterr()
        return int(done.ret), "\n".join([*done.outlines, *done.errlines])

    def collected(self, *arguments: str) -> list[str]:
        return re.findall(r"^\S+::\S+$", self.run("--collect-only", *arguments)[1], re.MULTILINE)

    def process(self, *arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "pytest", *QUIET, *arguments]
        done = subprocess.run(command, cwd=self.pytester.path, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def project(pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(pytester, capsys)


ALL = ["specs/tiny.specc::check", "specs/tiny.specc::budget[tiny]"]


def test_what_is_collected(project: Project) -> None:
    assert project.collected() == ["test_it.py::test_it"], "folders are searched where it is asked for"
    assert project.collected("specs/tiny.specc") == ALL
    assert project.collected("--specc") == [*ALL, "test_it.py::test_it"]
    assert project.collected("--specc", "-k", "budget") == ALL[1:]
    assert project.collected("--specc", "-k", "tiny and check") == ALL[:1]
    assert project.collected("--specc", "-m", "specc_check") == ALL[:1]
    assert project.collected("--specc", "-m", "not specc_check and not specc_parity") == [ALL[1], "test_it.py::test_it"]
    assert project.collected("--specc-parity", "specs/tiny.specc") == [*ALL, "specs/tiny.specc::parity[tiny]"]
    assert project.collected("-m", "specc_parity", "specs/tiny.specc") == ["specs/tiny.specc::parity[tiny]"]


def test_the_ini_file_and_the_settings(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\nspecc = true\n")
    project.write("specs/draft.specc", "model {")
    project.write("specc.toml", "exclude = ['draft.specc']\n")
    assert project.collected() == [*ALL, "test_it.py::test_it"]
    assert project.collected("specs/draft.specc") == ["specs/draft.specc::check"]


@pytest.mark.parametrize(("text", "outcome", "said"), [
    (TINY, "2 passed", ""),
    (OVER, "1 failed, 1 passed", "specs/tiny.specc:19:5: error CHK001: this check does not hold: `params` is 279_104\n"),
    (TINY.replace("causal", "casual"), "1 failed, 1 skipped", "= help: did you mean `causal`?\n"),
    ("model {", "1 failed", "error SYN001"),
    (TINY.replace("params ==", "parms =="), "1 failed, 1 passed", "NAM014"),
    (TINY.replace("context = 256", "context = 256  # specc: ignore[CHK001]"), "1 failed, 1 passed", "LNT005"),
    (OVER.replace("279_104", "229_952  # specc: ignore[CHK001] soon"), "1 failed, 1 passed", "CHK001"),
    (OVER.replace("params == 229_952", "params == 229_952  # specc: ignore[CHK001] soon"), "2 passed", ""),
    (TINY + SECOND, "1 failed, 2 passed", "params < 1k"),
])  # fmt: skip
def test_what_fails(text: str, outcome: str, said: str, project: Project) -> None:
    project.write("specs/tiny.specc", text)
    status, printed = project.run("specs/tiny.specc")
    assert status == ("failed" in outcome)
    assert re.search(rf"^{outcome} in ", printed, re.MULTILINE), printed
    assert said in printed
    assert "Traceback" not in printed
    assert ".py:" not in printed, "the diagnostic, and no stack"


def test_warnings_are_shown_on_request_and_fail_where_the_house_is_strict(project: Project) -> None:
    project.write("specs/tiny.specc", TINY.replace("  checks", "  spare_inner = 3\n  checks"))
    assert project.run("specs/tiny.specc")[0] == 0
    assert "warning LNT001" in project.run("specs/tiny.specc", "-rP")[1]
    project.write("specc.toml", "strict = true\n")
    status, printed = project.run("specs/tiny.specc")
    assert status == 1
    assert re.search("^1 failed, 1 passed in ", printed, re.MULTILINE)
    project.write("specc.toml", "strct = true\n")
    assert "SYS031" in project.run("specs/tiny.specc")[1]


@pytest.mark.parametrize("error", [0.0, 0.5])
def test_parity(error: float, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof itself is that of `specc verify`."""
    proof = Proof("tiny", "a miniature", (Row("whole pass", "ONNX Runtime", "PyTorch", error, 1e-5),))
    monkeypatch.setattr("specc.tools.verify.run.verify_miniature", lambda model: proof)
    status, printed = project.run("--specc-parity", "specs/tiny.specc")
    assert status == (error > 0)
    assert ("3 passed" if not error else "1 failed, 2 passed") in printed
    assert ("whole pass  ONNX Runtime  PyTorch  5.0e-01  1.0e-05  WRONG" in printed) == (error > 0)


def test_parity_of_an_adapter(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    proof = Proof("bot", "a miniature", (Row("merged", "ONNX Runtime", "PyTorch", 0.5, 1e-5),))
    monkeypatch.setattr(adapter_verify, "verify_adapter", lambda adapter: proof)
    project.write("specs/bot.specc", 'adapter bot for "tiny.specc" { lora(rank: 2, targets: [attention.q]) }')
    status, printed = project.run("--specc-parity", "specs/bot.specc")
    assert status == 1
    assert "1 failed, 1 passed" in printed
    assert "merged  ONNX Runtime  PyTorch  5.0e-01  1.0e-05  WRONG" in printed


def test_parity_needs_its_packages(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytest_items, "find_spec", lambda name: None)
    status, printed = project.run("--specc-parity", "specs/tiny.specc", "-rs")
    assert status == 0
    assert "2 passed, 1 skipped" in printed
    assert "parity needs torch: pip install 'specc-compiler[torch,run]'" in printed


def test_the_lock(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lock", str(project.pytester.path / "specs")]) == 0
    assert project.collected("specs/tiny.specc", "-m", "specc_lock") == ["specs/tiny.specc::lock"]
    assert project.run("specs/tiny.specc")[0] == 0
    project.write("specs/tiny.specc", TINY.replace("theta: 10_000", "theta: 500_000"))
    status, printed = project.run("specs/tiny.specc")
    assert status == 1
    assert "1 failed, 2 passed" in printed
    assert "error LCK004: `tiny` computes something else than what was locked" in printed


def test_nothing_is_imported_where_there_are_no_specs(project: Project) -> None:
    found = "sorted(m for m in sys.modules if m.startswith('specc'))"
    project.write("test_it.py", f"import sys\ndef test_it():\n    assert {found} == ['specc', 'specc.pytest_plugin']\n")
    status, printed = project.process()
    assert status == 0, printed
