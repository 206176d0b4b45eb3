"""SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/): GitHub code scanning, Azure DevOps and editors read it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from specc import __version__
from specc.diagnostics.codes import all_codes
from specc.diagnostics.edits import Edit, edit_of
from specc.diagnostics.finding import Diagnostic
from specc.diagnostics.formats import Group, flat, keys, place_of, relative
from specc.source import Span

LONG = 2000  # characters of an example that is left out
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(groups: Sequence[Group], base: Path) -> str:
    found = flat(groups)
    ids = sorted({d.code for d in found})
    driver = {"name": "specc", "version": __version__, "semanticVersion": __version__, "rules": [_rule(code, found) for code in ids]}
    unread = any(d.code.startswith("SYS") and d.severity == "error" for d in found)
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": not unread}],
        "columnKind": "unicodeCodePoints",
        "results": [_result(d, group, key, ids, base) for d, group, key in keys(groups, base)],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(id: str, found: list[Diagnostic]) -> dict[str, Any]:
    code = all_codes()[id]
    examples = [(name, text) for name, text in (("Wrong", code.wrong), ("Right", code.right)) if 0 < len(text) < LONG]
    shown = [code.cause, *(f"{name}:\n\n{text}" for name, text in examples)]
    marked = [code.cause, *(f"{name}:\n\n```\n{text}```" for name, text in examples)]
    return {
        "id": id,
        "shortDescription": {"text": _sentence(code.title)},
        "fullDescription": {"text": code.cause},
        "help": {"text": "\n\n".join(shown), "markdown": "\n\n".join(marked)},
        "defaultConfiguration": {"level": next(d.severity for d in found if d.code == id)},
    }


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _result(found: Diagnostic, group: Group, key: str, ids: list[str], base: Path) -> dict[str, Any]:
    path, *region = place_of(found, group, base)
    result = {
        "ruleId": found.code,
        "ruleIndex": ids.index(found.code),
        "level": found.severity,
        "message": {"text": found.message + (f"\nhelp: {found.help}" if found.help else "")},
        "locations": [{"physicalLocation": _physical(path, region if found.span is not None else None)}],
        "partialFingerprints": {"specc/v1": key},
    }
    if found.notes:
        result["relatedLocations"] = [_related(number, span, note, base) for number, (span, note) in enumerate(found.notes)]
    if (edit := edit_of(found)) is not None:
        result["fixes"] = [_fix(found, edit, path)]
    return result


def _physical(path: str, region: list[int] | None) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(path)}}
    if region is not None:
        place["region"] = dict(zip(("startLine", "startColumn", "endLine", "endColumn"), region, strict=True))
    return place


def _region(source: Any, start: int, end: int) -> list[int]:
    return [*source.position(start), *source.position(end)]


def _related(number: int, span: Span, note: str, base: Path) -> dict[str, Any]:
    place = _physical(relative(span.source.name, base), _region(span.source, span.start, span.end))
    return {"id": number, "physicalLocation": place, "message": {"text": note}}


def _fix(found: Diagnostic, edit: Edit, path: str) -> dict[str, Any]:
    region = _physical(path, _region(edit.source, edit.start, edit.end))["region"]
    replacement = {"deletedRegion": region, "insertedContent": {"text": edit.text}}
    return {
        "description": {"text": found.help or found.message},
        "artifactChanges": [{"artifactLocation": {"uri": quote(path)}, "replacements": [replacement]}],
    }
