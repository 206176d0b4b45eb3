"""GitLab code quality (https://docs.gitlab.com/ci/testing/code_quality/): a list of issues, as an artifact of a job."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from specc.diagnostics.finding import Diagnostic
from specc.diagnostics.formats import Group, keys, place_of


def render(groups: Sequence[Group], base: Path) -> str:
    return json.dumps([_issue(*one, base) for one in keys(groups, base)], indent=2)


def _issue(found: Diagnostic, group: Group, key: str, base: Path) -> dict:
    path, line, _, last, _ = place_of(found, group, base)
    return {
        "description": f"{found.code}: {found.message}" + (f" (help: {found.help})" if found.help else ""),
        "check_name": found.code,
        "fingerprint": key,
        "severity": _severity(found),
        "location": {"path": path, "lines": {"begin": line, "end": last}},
    }


def _severity(found: Diagnostic) -> str:
    """A spec that says nothing certain blocks; one that breaks its own budget is as serious as a failing test."""
    if found.severity == "warning":
        return "minor"
    return "critical" if found.code.startswith(("SYN", "SYS", "LIM")) else "major"
