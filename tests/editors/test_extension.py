"""The VS Code extension: its manifest names what is there, and it starts the server that it is told to."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from specc.resources import GRAMMAR

FOLDER = GRAMMAR / "vscode"
MANIFEST = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))


def test_the_manifest_agrees_with_the_project() -> None:
    project = tomllib.loads((GRAMMAR.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert MANIFEST["version"] == project["version"] and MANIFEST["license"] == project["license"]
    (language,) = MANIFEST["contributes"]["languages"]
    (grammar,) = MANIFEST["contributes"]["grammars"]
    textmate = json.loads((GRAMMAR / "specc.tmLanguage.json").read_text(encoding="utf-8"))
    assert language["extensions"] == [".specc"] and grammar["language"] == language["id"]
    assert grammar["scopeName"] == textmate["scopeName"]
    assert json.loads((FOLDER / language["configuration"]).read_text(encoding="utf-8"))["comments"]["lineComment"] == "#"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(
    ("command", "started"),
    [
        (["specc", "lsp"], "specc"),
        ([".venv/bin/specc", "lsp"], "/project/.venv/bin/specc"),
        (["/opt/specc", "lsp"], "/opt/specc"),
        (["missing"], "missing"),
    ],
)
def test_it_starts_the_server(command: list[str], started: str) -> None:
    script = Path(__file__).with_name("extension.cjs")
    run = ["node", script, FOLDER / "extension.js", json.dumps(command)]
    told = json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
    assert told["server"] == {"command": started, "args": command[1:], "transport": 0, "options": {"cwd": "/project"}}
    assert told["selector"] == [{"language": "specc"}]
    missing = started == "missing"
    assert (told["started"], told["stopped"]) == (2, 0 if missing else 2)
    assert all("specc-compiler[lsp]" in text for text in told["errors"]) and bool(told["errors"]) == missing


@pytest.mark.skipif(not (FOLDER / "node_modules" / "@vscode" / "vsce").is_dir(), reason="needs `npm install` in grammar/vscode")
def test_it_packages(tmp_path: Path) -> None:
    out = tmp_path / "specc.vsix"
    done = subprocess.run(["npx", "vsce", "package", "--out", out], cwd=FOLDER, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = subprocess.run(["unzip", "-Z1", out], capture_output=True, text=True, check=True).stdout
    assert "extension/dist/extension.js" in names and "extension/syntaxes/specc.tmLanguage.json" in names
