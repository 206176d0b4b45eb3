"""pytest collects `.specc` files: an item that checks each, one per model for its `checks`, and one for its parity.

Files that are named on the command line are collected always, those in folders where `--specc` or `specc = true` in the
ini file asks for it. Nothing of the compiler is imported before the first spec is collected.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

MARKERS = {
    "specc_check": "a spec has no errors",
    "specc_budget": "the `checks` of a model hold",
    "specc_parity": "PyTorch and ONNX Runtime compute the same for a model's miniature (only with --specc-parity or this marker)",
    "specc_lock": "a spec is what specc.lock says",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("specc")
    group.addoption("--specc", action="store_true", help="collect .specc files from folders too")
    group.addoption("--specc-parity", action="store_true", help="also prove that both back ends of each model compute the same")
    parser.addini("specc", "collect .specc files from folders", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".specc":
        return None
    named = parent.session.isinitpath(file_path)
    if not named and not (parent.config.getoption("specc") or parent.config.getini("specc")):
        return None
    from specc.tools.settings import settings_for

    if not named and settings_for(file_path).excludes(file_path):
        return None
    return SpecFile.from_parent(parent, path=file_path)


class Wrong(Exception):
    """What an item prints when it fails: findings, and no stack."""


class SpecFile(pytest.File):
    """One spec, examined when the first of its items runs."""

    _examined: Any = None

    def collect(self) -> Iterator[pytest.Item]:
        from specc.pytest_items import items

        yield from items(self)

    def examined(self) -> Any:
        """The findings of the file as `specc check` has them, warnings made errors where the settings are strict."""
        if self._examined is None:
            from specc.pytest_items import examine

            self._examined = examine(self.path)
        return self._examined


class SpecItem(pytest.Item):
    """One thing that must hold."""

    def __init__(self, *, what: str, run: Any, line: int = 0, **options: Any) -> None:
        super().__init__(**options)
        self.what, self.line, self._run = what, line, run
        self.add_marker(f"specc_{what}")

    def runtest(self) -> None:
        said = self._run()
        if said:
            self.add_report_section("call", "specc", said)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Wrong):
            return str(excinfo.value)
        from specc.diagnostics import SpecError, render

        if isinstance(excinfo.value, SpecError):
            return render.text(excinfo.value.diagnostics)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.line, f"{self.path.name}: {self.name}"
