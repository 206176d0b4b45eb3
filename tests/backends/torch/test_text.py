"""The printed file: formatted, free of lint, short, and the same every time."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specc.backends.torch.emit import emit
from specc.ir.model import Model
from specc.resources import SPECS as FOLDER
from tests.backends.torch.models import SPECS, first, model, named
from tests.harness import model_of
from tests.training.models import TEXTS

RUFF = (sys.executable, "-m", "ruff")
STYLE = ("--isolated", "--line-length", "120")
PUBLISHED = sorted((FOLDER / "models").glob("*.specc"))
LONG = [path for path in PUBLISHED if path.stem in ("llama3_8b", "gemma2_9b", "gpt2", "bert_base_mlm")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every model of the tests and of specs/models as a file."""
    found = tmp_path_factory.mktemp("printed")
    for name in SPECS:
        (found / f"{name}.py").write_text(emit(named(name)))
    for name, text in TEXTS.items():
        (found / f"trained_{name}.py").write_text(emit(model_of(text)))
    for path in PUBLISHED:
        (found / f"published_{path.stem}.py").write_text(emit(first(path)))
    return found


def test_the_formatter_would_change_nothing(folder: Path):
    done = subprocess.run([*RUFF, "format", *STYLE, "--diff", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_linter_finds_nothing(folder: Path):
    done = subprocess.run([*RUFF, "check", *STYLE, "--select", "F,E9,I,B,E501,PLE", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_only_torch_is_imported(folder: Path):
    allowed = {"__future__", "contextlib", "json", "math", "re", "dataclasses", "pathlib", "torch", "safetensors"}
    for file in folder.iterdir():
        imported = re.findall(r"^\s*(?:from|import) (\w+)", file.read_text(), re.MULTILINE)
        assert set(imported) <= allowed, file.name


def test_the_golden_file_is_what_is_printed(golden):
    golden("llama.py", emit(first(FOLDER / "models" / "llama3_8b.specc")))


@pytest.mark.parametrize("path", LONG, ids=lambda path: path.stem)
def test_a_published_model_is_a_short_file(path: Path):
    assert len(emit(first(path)).splitlines()) < 300


def test_the_same_model_read_from_json_prints_the_same():
    for name in ("llama", "gemma3", "unlike_layers"):
        assert emit(Model.model_validate_json(named(name).model_dump_json())) == emit(named(name))


def test_a_deep_model_is_printed_at_once_and_no_longer_than_a_flat_one():
    deep = model(SPECS["gemma3"].replace("depth = 5", "depth = 10_000"))
    text = emit(model(SPECS["gemma3"].replace("depth = 5", "depth = 80")))
    started = time.perf_counter()
    assert len(emit(deep).splitlines()) == len(text.splitlines())
    assert time.perf_counter() - started < 5
    started = time.perf_counter()
    emit(model(SPECS["gemma3"].replace("depth = 5", "depth = 80")))
    assert time.perf_counter() - started < 2


def test_text_of_the_spec_cannot_leave_the_docstring():
    hostile = named("llama").model_copy(update={"doc": 'a """ b\\ \\N{BULLET} \\" c\\'})
    module = compile(emit(hostile), "hostile.py", "exec")
    assert module.co_consts[0].startswith('a """ b\\ \\N{BULLET} \\" c\\\n')


@pytest.mark.parametrize("name", ["attention", "model", "output", "block", "tensor", "path", "r_m_s_norm"])
def test_a_model_may_be_called_like_a_class_of_the_file(name: str):
    text = emit(model(SPECS["llama"], name))
    assert len(set(found := re.findall(r"^class (\w+)", text, re.MULTILINE))) == len(found)
    namespace = {"__name__": "specimen"}
    sys.modules["specimen"] = sys
    exec(compile(text, "specimen.py", "exec"), namespace)
    assert namespace["Model"].__name__ == found[-1]
