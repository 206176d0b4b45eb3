"""`specc check` as a test calls it: in a folder of its own, with what it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from specc.faces.cli import main
from specc.tools.settings import forget


class Shell:
    """`main` in a folder. `write` makes files there."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys

    def write(self, **files: str) -> None:
        """Files by name; `__` stands for a slash, and specs need no ending."""
        for name, text in files.items():
            path = self.folder / name.replace("__", "/")
            path = path if path.suffix or "toml" in name else path.with_suffix(".specc")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")

    def settings(self, text: str, name: str = "specc.toml") -> None:
        (self.folder / name).write_text(text)

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        forget()
        try:
            status = main(["check", *map(str, arguments)])
        except SystemExit as stop:
            status = int(stop.code or 0)
        out, err = self.capsys.readouterr()
        assert "Traceback" not in out + err
        return status, out, err

    def codes(self, *arguments: object) -> list[str]:
        """The codes that are found, in the order of the report."""
        import json

        return [found["code"] for found in json.loads(self(*arguments, "--format", "json")[1])]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    return Shell(tmp_path, capsys)
