"""One thread for each worker; and golden files, equal to what is committed, or rewritten on demand."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

# Before numpy or torch is imported. The matrices are small and the workers as many as the cores: more threads only wait.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files; read the diff before committing")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden("llama.py", text)`: the text is that of the golden file, which `--update-golden` rewrites."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert text == path.read_text(), f"{name} is stale: run pytest --update-golden and read the diff"

    return check
