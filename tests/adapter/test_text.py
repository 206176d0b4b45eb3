"""The printed file: as the formatter and the linter want it, importing only torch, every constant and import in use."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from specc.backends.torch.adapter.emit import emit_adapter
from tests.adapter.made import resolved
from tests.adapter.models import ENCODER, MOE, TINY

RUFF = (sys.executable, "-m", "ruff")
STYLE = ("--isolated", "--line-length", "120")
LORA = "lora(rank: 3, alpha: 5, dropout: 0.1, targets: [attention.q, fused(attention.k, attention.v)])"
FILES = {
    "lora": (TINY, LORA),
    "everything": (TINY, f'{LORA} lora(rank: 2, dora: true, targets: ["layers.1.ffn.up"]) bottleneck(dim: 4, activation: swish(beta: 1.3), after: [attention, ffn], parallel: true)'),
    "table": (TINY, "lora(rank: 2, targets: [embed.tokens])"),
    "experts": (MOE, "lora(rank: 2, targets: [ffn.experts, attention.o], layers: [1])"),
    "ia3": (TINY, "ia3(after: [attention.k], before: [ffn.down])"),
    "bottlenecks": (ENCODER, "bottleneck(dim: 4, activation: gelu, after: [attention], scale: 0.5) bottleneck(dim: 4, activation: relu, after: [ffn])"),
    "prefix": (TINY, "prefix(length: 3)"),
    "trained_prefix": (TINY, "prefix(length: 3, reparameterised: 5)"),
    "prompt": (TINY, f"{LORA} prompt(length: 3)"),
    "both": (TINY, "prefix(length: 3) prompt(length: 2)"),
    "learned": (TINY.replace("position = rope(theta: 10_000)", "position = none  embed = tokens() + learned_position()"), "prompt(length: 2) prefix(length: 2)"),
    "encoder_prefix": (ENCODER, "prefix(length: 3)"),
    "encoder_prompt": (ENCODER, "prompt(length: 3)"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("printed")
    for name, (model, body) in FILES.items():
        (found / f"{name}.py").write_text(emit_adapter(resolved(found, model, body)))
    return found


def test_as_the_formatter_sets_it(folder: Path):
    done = subprocess.run([*RUFF, "format", "--diff", *STYLE, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[:3000]


def test_as_the_linter_wants_it(folder: Path):
    rules = ("--select", "F,E9,I,B,E501,PLE")
    done = subprocess.run([*RUFF, "check", *STYLE, *rules, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[:3000]


def test_it_imports_only_torch(folder: Path):
    for file in folder.glob("*.py"):
        names = {a.name.split(".")[0] for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Import) for a in node.names}
        assert names <= {"inspect", "math", "torch"}, file.name


def test_every_name_of_the_file_is_used(folder: Path):
    for file in folder.glob("*.py"):
        tree = ast.parse(file.read_text())
        defined = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)} | {t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets}
        read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        assert defined - read == {"Adapter"}, file.name
