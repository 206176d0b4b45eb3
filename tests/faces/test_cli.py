"""The command line: its exit statuses, what goes where, and that nothing of specc's insides is shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from specc import __version__
from specc.diagnostics import CODES
from specc.diagnostics.table.example import family, layers, spec
from specc.faces import cli
from specc.faces.cli import COMMANDS, main
from specc.resources import SPECS

HEAVY = ("torch", "onnx", "onnxruntime", "numpy", "lark", "jinja2", "transformers", "safetensors")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "m.specc"
    path.write_text(spec())
    return path


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "specc", *map(str, arguments)], capture_output=True, text=True, timeout=60)


class Shell:
    """`main` with what it prints: as a process, without the cost of one."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        try:
            status = main([str(a) for a in arguments])
        except SystemExit as stop:
            status = int(stop.code or 0)
        out, err = self.capsys.readouterr()
        assert "Traceback" not in out + err
        return status, out, err


@pytest.fixture
def specc(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


# ---- help and usage


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command: str, specc: Shell) -> None:
    status, out, err = specc(command, "--help")
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: specc {command}")


def test_help_lists_every_command(specc: Shell) -> None:
    status, out, _ = specc("--help")
    assert status == 0
    assert all(command in out for command in COMMANDS)
    assert specc() == (2, out, "")


def test_version(specc: Shell) -> None:
    assert specc("--version") == (0, f"specc {__version__}\n", "")


@pytest.mark.parametrize(
    "arguments", [["nothing"], ["check"], ["check", "--nothing", "x"], ["build", "x", "--to", "paper", "-o", "y"], ["--format", "json"]]
)
def test_usage_errors(arguments: list[str], specc: Shell) -> None:
    status, out, err = specc(*arguments)
    assert (status, out) == (2, "")
    assert "usage: specc" in err


# ---- check


def test_what_is_right(file: Path, specc: Shell) -> None:
    assert specc("check", file) == (0, "1 model checked, nothing wrong\n", "")
    assert specc("check", file, "--format", "json") == (0, "[]\n", "")


def test_what_is_wrong(file: Path, specc: Shell) -> None:
    file.write_text(spec(mask="casual", norm="rmz(eps: 1e-5)"))
    status, out, err = specc("check", file)
    assert (status, out) == (1, "")
    assert "error NAM001: no mask variant is called `casual`" in err
    status, out, err = specc("check", file, "--format", "json")
    assert (status, err) == (1, "")
    assert [(d["code"], d["file"]) for d in json.loads(out)] == [("NAM001", str(file))] * 2


def test_a_warning_alone_is_no_failure(file: Path, specc: Shell) -> None:
    file.write_text(spec("inner = 64"))
    status, out, err = specc("check", file)
    assert (status, out) == (0, "1 model checked, 1 warning\n")
    assert "warning LNT001" in err


def test_a_folder_and_several_files(tmp_path: Path, specc: Shell) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "a.specc").write_text(spec())
    (tmp_path / "inner" / "b.specc").write_text(spec() + family().replace("model m", "model n"))
    assert specc("check", tmp_path)[1] == "3 models checked, nothing wrong\n"
    assert specc("check", tmp_path, tmp_path / "a.specc")[1] == "3 models checked, nothing wrong\n"
    (tmp_path / "b.specc").write_text(spec(mask="casual"))
    (tmp_path / "c.specc").write_text("model {")
    status, out, err = specc("check", tmp_path)
    assert (status, out) == (1, "")
    assert err.count("error NAM001") == err.count("error SYN001") == 1, "every file is looked at"


@pytest.mark.parametrize(("name", "code"), [("missing.specc", "SYS001"), (".", "SYS002")])
def test_what_cannot_be_read(name: str, code: str, tmp_path: Path, specc: Shell) -> None:
    status, out, err = specc("check", tmp_path / name)
    assert (status, out) == (2, "")
    assert f"error {code}: " in err
    status, out, err = specc("check", tmp_path / name, "--format", "json")
    assert (status, err) == (2, "")
    assert [d["code"] for d in json.loads(out)] == [code]


def test_a_file_that_another_uses(tmp_path: Path, specc: Shell) -> None:
    file = tmp_path / "m.specc"
    file.write_text(f'use "base.specc"\n{spec()}')
    assert specc("check", file)[0] == 2
    (tmp_path / "base.specc").mkdir()
    assert "SYS001: cannot read" in specc("check", file)[2]
    (tmp_path / "base.specc").rmdir()
    os.mkfifo(tmp_path / "base.specc")
    assert "not a file" in specc("check", file)[2], "a pipe is not waited for"


def test_what_specc_brings_is_clean(specc: Shell) -> None:
    status, out, err = specc("check", SPECS / "models", SPECS / "families")
    assert (status, err) == (0, "")
    assert out.endswith("models checked, nothing wrong\n")


def test_check_imports_nothing_heavy(file: Path) -> None:
    program = (
        "import sys; from specc.faces.cli import main; status = main(['check', sys.argv[1]]); "
        f"print(status, [m for m in {HEAVY!r} if m in sys.modules])"
    )
    for text in (spec(), spec(mask="casual")):
        file.write_text(text)
        done = subprocess.run([sys.executable, "-c", program, file], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == f"{int(text != spec())} []"


# ---- explain


def test_explain_every_code(specc: Shell) -> None:
    for code in CODES.values():
        status, out, err = specc("explain", code.id.lower())
        assert (status, err) == (0, "")
        assert out.startswith(f"{code.id}: {code.title}\n")
        assert (code.wrong != "") == ("\nWrong:\n" in out) == ("\nRight:\n" in out)
        assert json.loads(specc("explain", code.id, "--format", "json")[1])["wrong"] == code.wrong


def test_explain_lists_all(specc: Shell) -> None:
    out = specc("explain")[1]
    assert [line.split()[0] for line in out.splitlines()] == sorted(CODES)


def test_explain_an_unknown_code(specc: Shell) -> None:
    status, out, err = specc("explain", "NAM999")
    assert (status, out) == (2, "")
    assert err.startswith("error SYS004: no diagnostic has the code NAM999\n  = help: did you mean `NAM0")


# ---- commands on one model


def test_one_model_of_several(file: Path, specc: Shell) -> None:
    file.write_text(spec() + spec().replace("model m", "model n"))
    status, out, err = specc("ir", file)
    assert (status, out) == (2, "")
    assert "error SYS003: " in err
    assert "name one with --model: m, n" in err
    assert json.loads(specc("ir", file, "--model", "n")[1])["name"] == "n"
    assert "holds no model `o`" in specc("ir", file, "--model", "o")[2]


def test_a_family_alone(file: Path, specc: Shell) -> None:
    file.write_text(family())
    status, _, err = specc("ir", file)
    assert status == 2
    assert "SYS003: " in err
    assert "holds no model that stands alone" in err


@pytest.mark.parametrize("command", [["ir"], ["stats"], ["build", "--to", "torch", "-o", "OUT"], ["build", "--to", "onnx", "-o", "OUT"]])
@pytest.mark.parametrize(("text", "status"), [(spec(mask="casual"), 1), ("model {", 1), (None, 2)])
def test_findings_of_other_commands(command: list[str], text: str | None, status: int, file: Path, specc: Shell) -> None:
    out = file.parent / "out"
    if text is None:
        file.unlink()
    else:
        file.write_text(text)
    arguments = [str(out) if a == "OUT" else a for a in command]
    found = specc(arguments[0], file, *arguments[1:])
    assert found[:2] == (status, "")
    assert "error " in found[2]
    assert not out.exists(), "nothing is written"
    code, printed, err = specc(arguments[0], file, *arguments[1:], "--format", "json")
    assert (code, err) == (status, "")
    assert json.loads(printed)[0]["severity"] == "error"


@pytest.mark.parametrize(
    "command",
    [
        "build FILE --to torch -o OUT --weights missing",
        "build FILE --to torch -o OUT --weights-as copy",
        "build FILE --to torch -o OUT --dtype fp16",
        "build FILE --to torch -o OUT --provider cuda",
        "build FILE --to torch -o OUT --adapter-weights missing",
        "build FILE --to torch -o OUT --merge",
        "import FILE --model m",
        "verify FILE --cache OUT",
        "verify FILE --config FILE",
        "verify FILE --since HEAD --against transformers",
        "verify FILE --since HEAD --model m",
        "verify FILE --since HEAD --weights missing",
    ],
)
def test_an_option_without_effect(command: str, file: Path, specc: Shell) -> None:
    file.write_text(spec())
    out = file.parent / "out"
    status, printed, err = specc(*({"FILE": file, "OUT": out}.get(word, word) for word in command.split()))
    assert (status, printed) == (2, "")
    assert "error SYS033: --" in err
    assert not out.exists(), "nothing is written"


@pytest.mark.parametrize("to", ["torch", "onnx"])
def test_an_unwritable_place(to: str, file: Path, specc: Shell) -> None:
    (file.parent / "taken").write_text("a file, and no folder")
    before = sorted(file.parent.iterdir())
    status, out, err = specc("build", file, "--to", to, "-o", file.parent / "taken" / "inner")
    assert (status, out) == (2, "")
    assert "error SYS005: cannot write" in err
    assert sorted(file.parent.iterdir()) == before


@pytest.mark.parametrize(("to", "name"), [("torch", "m.py"), ("onnx", "model.onnx")])
def test_what_is_written_is_whole(to: str, name: str, file: Path, specc: Shell) -> None:
    out = file.parent / "out"
    (out / name).mkdir(parents=True)  # in the way: a file cannot replace a folder
    status, _, err = specc("build", file, "--to", to, "-o", out)
    assert status == 2
    assert "SYS005" in err
    assert [p.name for p in out.iterdir()] == [name], "no half of a file is left"
    (out / name).rmdir()
    status, printed, _ = specc("build", file, "--to", to, "-o", out)
    assert (status, printed) == (0, f"{out / name}\n")
    assert (out / name).stat().st_size > 1000
    assert sorted(p.name for p in out.iterdir()) == [name]


@pytest.mark.parametrize("how", ["beside", "link"])
def test_weights_that_cannot_lie_there(how: str, file: Path, specc: Shell) -> None:
    assert specc("weights", "init", file, "-o", file.parent / "w")[0] == 0
    place = file.parent / ("w" if how == "link" else "other")
    status, _, err = specc("build", file, "--to", "onnx", "-o", place, "--weights", file.parent / "w", "--weights-as", how)
    assert status == 2
    assert "error SYS006: " in err


def test_import_prints_or_writes(tmp_path: Path, specc: Shell) -> None:
    config = {
        "model_type": "llama",
        "vocab_size": 64,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    status, text, err = specc("import", tmp_path / "config.json", "--name", "small")
    assert (status, err) == (0, "")
    assert "model small {" in text
    target = tmp_path / "small.specc"
    assert specc("import", tmp_path, "-o", target)[:2] == (0, "")
    assert target.read_text() == text
    assert specc("check", target)[0] == 0
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "unknown"}))
    status, out, err = specc("import", tmp_path, "-o", tmp_path / "other.specc")
    assert (status, out) == (1, "")
    assert "error CFG004" in err
    assert not (tmp_path / "other.specc").exists()
    assert specc("import", tmp_path / "nowhere")[0] == 2


# ---- faults


def test_a_fault_of_specc_is_one_line(file: Path, specc: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: object) -> None:
        raise RuntimeError("the insides")

    monkeypatch.setattr("specc.tools.check.check_file", fault)
    status, out, err = specc("check", file)
    assert (status, out) == (70, "")
    assert err == "specc: internal error: RuntimeError: the insides (run again with --debug for the trace)\n"
    with pytest.raises(RuntimeError):
        main(["check", "--debug", str(file)])


@pytest.mark.parametrize(("name", "status"), [("torch.nn", 2), ("something_else", 70)])
def test_a_missing_package_is_named(name: str, status: int, file: Path, specc: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr("specc.tools.check.check_file", missing)
    found, _, err = specc("check", file)
    assert found == status
    assert ("pip install 'specc-compiler[torch]'" in err) == (status == 2)


def test_a_reader_that_goes_away_is_no_fault(file: Path) -> None:
    command = f"{sys.executable} -m specc ir {SPECS / 'models' / 'llama3_8b.specc'} | head -c 10"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


def test_as_a_process(file: Path) -> None:
    done = run("check", file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 model checked, nothing wrong\n", "")
    file.write_text(layers("layer a { mask = causal }", layers="[3 * a]"))
    done = run("check", file)
    assert (done.returncode, done.stdout) == (1, "")
    assert "SHP006" in done.stderr


def test_every_command_has_its_module() -> None:
    folder = Path(cli.__file__).parent / "commands"
    assert sorted(COMMANDS) == sorted(path.stem.removesuffix("_command") for path in folder.glob("*_command.py"))
