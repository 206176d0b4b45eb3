"""The wheel, installed alone: no checkout, no torch, no extras, from another folder, all the way to a graph."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import specc

ROOT = Path(__file__).parents[2]
PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input")
CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 200, "hidden_size": 64, "intermediate_size": 96,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128, "rms_norm_eps": 1e-5,
    "rope_theta": 10_000.0, "hidden_act": "silu", "tie_word_embeddings": False,
}  # fmt: skip
RUN_TIME = ("specc", "pydantic", "jinja2", "onnx", "numpy")
ABSENT = ("torch", "lark", "onnxruntime", "tokenizers", "transformers", "safetensors", "pytest")


def pip(python: Path | str, *arguments: str) -> None:
    """Where the index cannot be reached the test is skipped, and in CI it fails."""
    done = subprocess.run([str(python), *PIP, *arguments], capture_output=True, text=True, timeout=500)
    if done.returncode == 0:
        return
    reason = done.stderr.strip()[-1000:]
    unreachable = any(sign in reason for sign in ("NewConnectionError", "No matching distribution", "timed out", "ConnectionError"))
    if unreachable and os.environ.get("CI", "").lower() not in ("1", "true"):
        pytest.skip(f"pip does not reach an index: {reason[-300:]}")
    pytest.fail(reason)


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], None]], Path]:
    """A folder made by the first worker that asks for it, and used by all: building and installing take a minute."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def made(name: str, make: Callable[[Path], None]) -> Path:
        folder, ready = shared / name, shared / f"{name}.ready"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not ready.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                make(folder)
                ready.touch()
        return folder

    return made


@pytest.fixture(scope="session")
def wheel(once) -> Path:
    def make(folder: Path) -> None:
        pip(sys.executable, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT))

    (made,) = once("wheel", make).glob("*.whl")
    return made


@pytest.fixture(scope="session")
def installed(once, wheel: Path) -> Path:
    """The bin folder of an environment that holds the wheel and what it asks for."""

    def make(folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        python = ("--python", str(folder / "bin" / "python"))
        pip(sys.executable, *python, "install", "--quiet", "--constraint", str(ROOT / "constraints.txt"), str(wheel))

    return once("alone", make) / "bin"


@pytest.fixture
def ran(installed: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    def run(*command: str, status: int = 0) -> subprocess.CompletedProcess:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL", "PYTEST", "COV"))}
        done = subprocess.run([str(installed / command[0]), *command[1:]], cwd=tmp_path, env=kept, capture_output=True, text=True, timeout=120)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return run


def test_what_the_wheel_holds(wheel: Path):
    assert wheel.name == f"specc_compiler-{specc.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for folder, pattern in (("grammar", "specc.*"), ("specs", "**/*.specc"), ("templates", "**/*.jinja")):
        files = {f"specc/_data/{file.relative_to(ROOT)}" for file in (ROOT / folder).glob(pattern) if file.is_file()}
        assert files and files <= names
    modules = {str(file.relative_to(ROOT)) for file in (ROOT / "specc").rglob("*.py")} | {"specc/syntax/tables.json"}
    assert modules <= names
    assert not [name for name in names if name.startswith(("tests", "benchmarks", "demo")) or "__pycache__" in name]
    assert wheel.stat().st_size < 1 << 20


def test_the_environment_is_bare(ran):
    listed = f"import importlib.util as u, json; print(json.dumps([n for n in {RUN_TIME + ABSENT} if u.find_spec(n)]))"
    assert json.loads(ran("python", "-c", listed).stdout) == [*RUN_TIME]
    place = "import specc.resources as r; print(r.SPECS)"
    assert ran("python", "-c", place).stdout.strip().endswith("site-packages/specc/_data/specs")
    assert ran("specc", "--version").stdout == f"specc {specc.__version__}\n"


def test_from_a_config_to_both_programs(ran, tmp_path: Path):
    import onnx

    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    ran("specc", "import", "config.json", "-o", "tiny.specc")
    assert ran("specc", "check", "tiny.specc").stdout == "1 model checked, nothing wrong\n"
    ran("specc", "build", "tiny.specc", "--to", "torch", "-o", "out")
    assert "import torch" in (tmp_path / "out" / "tiny.py").read_text()
    ran("specc", "weights", "init", "tiny.specc", "-o", "out")
    ran("specc", "build", "tiny.specc", "--to", "onnx", "-o", "out", "--weights", "out")
    onnx.checker.check_model(str(tmp_path / "out" / "model.onnx"), full_check=True)
    assert "parameters" in ran("specc", "stats", "tiny.specc").stdout


def test_the_other_commands(ran, tmp_path: Path):
    assert '"$defs"' in ran("specc", "schema").stdout
    assert "WGT020" in ran("specc", "explain", "WGT020").stdout
    (tmp_path / "bad.specc").write_text("model m { dim = 16 depth 2 }\n")
    assert "bad.specc" in ran("specc", "check", "bad.specc", status=1).stderr
    assert ran("specc", "ir", "missing.specc", status=2).stderr.startswith("error SYS001")


@pytest.mark.parametrize(("command", "extra"), [(("verify", "tiny.specc"), "torch"), (("run", "out", "--ids", "1,2"), "run")])
def test_what_needs_an_extra_says_which(command: tuple[str, ...], extra: str, ran, tmp_path: Path):
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    ran("specc", "import", "config.json", "-o", "tiny.specc")
    ran("specc", "weights", "init", "tiny.specc", "-o", "out")
    ran("specc", "build", "tiny.specc", "--to", "onnx", "-o", "out", "--weights", "out")
    found = ran("specc", *command, status=2).stderr
    assert len(found.splitlines()) == 1 and "pip install 'specc-compiler[" in found and extra in found
