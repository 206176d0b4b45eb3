"""Finding the family file of a model type."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from specc.diagnostics.finding import did_you_mean, fail
from specc.resolve.program import Program, load
from specc.resources import SPECS
from specc.syntax import tree

DEFINITION = re.compile(r"^model (\w+)\(", re.MULTILINE)
READ = re.compile(r"\bconfig\.(\w+)")


@cache
def _texts() -> dict[Path, str]:
    return {path: path.read_text() for path in sorted((SPECS / "families").glob("*.specc"))}


def known_types() -> list[str]:
    """Every model type that a family file describes, with underscores for hyphens."""
    return sorted(name for text in _texts().values() for name in DEFINITION.findall(text))


def fields_read_by_any() -> frozenset[str]:
    """The config fields that at least one family reads: to drop one of them silently would be a fault."""
    return frozenset(name for text in _texts().values() for name in READ.findall(text))


def family_of(model_type: str) -> tuple[Program, tree.Model]:
    """The family of a model type. Raises SpecError where there is none."""
    name = re.sub(r"\W", "_", model_type)
    for path, text in _texts().items():
        if name in DEFINITION.findall(text):
            program = load(path)
            return program, program.models[name]
    raise fail("CFG004", f"specc has no family for the model type `{model_type}`", None, did_you_mean(name, known_types()))
