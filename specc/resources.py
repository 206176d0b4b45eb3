"""Where the files beside the code lie: in the repository, or in `specc/_data` of an installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_ROOT = _PACKAGE / "_data" if (_PACKAGE / "_data").is_dir() else _PACKAGE.parent

GRAMMAR = _ROOT / "grammar"
SPECS = _ROOT / "specs"
TEMPLATES = _ROOT / "templates"
