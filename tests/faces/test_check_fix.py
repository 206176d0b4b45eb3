"""`--fix` changes what is certain and nothing else; `--watch` looks again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from specc.diagnostics.table.example import spec
from specc.faces.watch import state
from tests.faces.check_shell import Shell, check  # noqa: F401  a fixture

IGNORE = "# specc: ignore[LNT001] for later"


@pytest.mark.parametrize(("wrong", "right"), [
    (spec(norm="rms(epsilon : 1e-5)"), spec(norm="rms(eps : 1e-5)")),
    (spec("contxt = 32", context=None), spec("context = 32", context=None)),
    (spec("contxt = 32", context=None, norm="rms(epsilon: 1e-5)"), spec("context = 32", context=None, norm="rms(eps: 1e-5)")),
    (spec(f"depth = 2  {IGNORE}", depth=None), spec("depth = 2", depth=None)),
    (spec(f"{IGNORE}\ndepth = 2", depth=None), spec("depth = 2", depth=None)),
    (spec(f"# two # {IGNORE}\ndepth = 2", depth=None), spec("# two #\ndepth = 2", depth=None)),
    (spec(above=IGNORE.replace("ignore", "ignore-file") + "\n"), spec()),
    (spec("inner = 64  # specc: ignore[LNT001, CHK001] later"), spec("inner = 64  # specc: ignore[LNT001] later")),
    (spec("inner = 64  # specc: ignore[CHK001, LNT001] later"), spec("inner = 64  # specc: ignore[LNT001] later")),
    (spec("inner = 64  # specc: ignore[CHK001,LNT001,LNT010] later"), spec("inner = 64  # specc: ignore[LNT001] later")),
    (spec(mask="casual"), None),
    (spec(block="prenorm"), None),
    (spec("checks { parms == 1 }"), None),
    (spec("depth = 3"), None),
    (spec("contxt = 32"), None),  # there is a context already
    (spec("emd = 32"), None),  # the suggestion is far off
    (spec(position="rope(tta: 10_000, theta: 10_000)"), None),
    ("model {", None),
])  # fmt: skip
def test_fix(wrong: str, right: str | None, check: Shell) -> None:  # noqa: F811
    path = check.folder / "m.specc"
    for change in (str, lambda text: "\ufeff" + text.replace("\n", "\r\n")):
        check.write(m=change(wrong))
        status, out, _ = check("m.specc", "--fix")
        assert path.read_bytes().decode() == change(wrong if right is None else right)
        assert ("fixed" in out) == (right is not None)
        assert status == (right is None)


def test_only_what_is_checked_is_changed(check: Shell) -> None:  # noqa: F811
    base = spec(norm="rms(epsilon: 1e-5)").replace("model m", "model base")
    check.write(base=base, m='use "base.specc"\nmodel m extends base { depth = 3 }\n', good=spec())
    before = (check.folder / "good.specc").stat().st_mtime_ns
    assert check("m.specc", "good.specc", "--fix")[0] == 1
    assert (check.folder / "base.specc").read_text() == base
    assert check(".", "--fix")[:2] == (0, "1 finding fixed\n3 models checked, nothing wrong\n")
    assert (check.folder / "good.specc").stat().st_mtime_ns == before


def test_what_cannot_be_written(check: Shell) -> None:  # noqa: F811
    check.write(m=spec(norm="rms(epsilon: 1e-5)"))
    if os.getuid() == 0:
        pytest.skip("root writes everywhere")
    check.folder.chmod(0o500)
    try:
        status, _, err = check("m.specc", "--fix")
    finally:
        check.folder.chmod(0o700)
    assert status == 2
    assert "SYS005" in err


def test_watch_sees_specs_and_settings(check: Shell) -> None:  # noqa: F811
    check.write(m=spec(), inner__n=spec())
    seen = state(["m.specc"])
    assert seen == state(["m.specc"])
    check.write(inner__n=spec(depth="3"))
    assert seen == state(["m.specc"]), "another folder"
    for change in (lambda: check.write(m=spec(depth="3")), lambda: check.settings("strict = true"), lambda: check.write(beside=spec())):
        change()
        assert state(["m.specc"]) != seen
        seen = state(["m.specc"])
    assert len(state(["."])) > len(seen)
    assert state(["missing.specc"]) == state(["missing.specc"])


def test_watch(check: Shell) -> None:  # noqa: F811
    check.write(m=spec())
    command = [sys.executable, "-m", "specc", "check", "--watch", "m.specc"]
    # a shell starts what runs in its background with the interrupt ignored
    heeded = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=check.folder, **heeded) as process:
        try:
            lines = iter(process.stdout.readline, "")
            assert next(line for line in lines if "checked" in line) == "1 model checked, nothing wrong\n"
            assert next(lines).startswith("-- watching m.specc")
            time.sleep(0.05)
            check.write(m=spec(mask="casual"))
            assert "NAM001" in next(line for line in lines if "m.specc:" in line)
            check.settings("nonsense = 1")
            assert "SYS031" in next(line for line in lines if "specc.toml" in line), "it goes on"
        finally:
            process.send_signal(signal.SIGINT)
            try:
                assert process.wait(10) == 130
            finally:
                process.kill()
