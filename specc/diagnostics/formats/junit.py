"""JUnit XML: a suite per file, a case per error; a file without any has a case that passes. Warnings are printed in the last."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from specc.diagnostics import render as plain
from specc.diagnostics.finding import Diagnostic
from specc.diagnostics.formats import Group, place_of, relative


def render(groups: Sequence[Group], base: Path) -> str:
    suites = [_suite(group, base) for group in groups]
    sums = _counts(d for group in groups for d in group.found)
    cases = sum(len(_errors(group)) or 1 for group in groups)
    head = f'<testsuites name="specc" tests="{cases}" failures="{sums[0]}" errors="{sums[1]}">'
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', head, *suites, "</testsuites>"])


def _suite(group: Group, base: Path) -> str:
    name, wrong = relative(group.name, base), _errors(group)
    failures, errors = _counts(group.found)
    head = f'  <testsuite name={_quoted(name)} tests="{len(wrong) or 1}" failures="{failures}" errors="{errors}" skipped="0">'
    passing = [f'    <testcase name="check" classname={_quoted(name)} file={_quoted(name)}>']
    cases = [_case(d, group, name, base) for d in wrong] or [passing]
    if warnings := [d for d in group.found if d.severity == "warning"]:
        cases[-1].append(f"      <system-out>{_text(plain.text(warnings))}</system-out>")
    return "\n".join([head, *("\n".join([*case, "    </testcase>"]) for case in cases), "  </testsuite>"])


def _case(found: Diagnostic, group: Group, name: str, base: Path) -> list[str]:
    path, line, column, *_ = place_of(found, group, base)
    title = f"{found.code} at {line}:{column}" if path == name else f"{found.code} at {path}:{line}:{column}"
    kind = "error" if found.code.startswith("SYS") else "failure"
    head = f'    <testcase name={_quoted(title)} classname={_quoted(name)} file={_quoted(path)} line="{line}">'
    failure = f"      <{kind} type={_quoted(found.code)} message={_quoted(found.message)}>{_text(plain.text([found]))}</{kind}>"
    return [head, failure]


def _errors(group: Group) -> list[Diagnostic]:
    return [d for d in group.found if d.severity == "error"]


def _counts(found) -> tuple[int, int]:
    """Failures, and errors: what could not be read at all."""
    wrong = [d.code.startswith("SYS") for d in found if d.severity == "error"]
    return wrong.count(False), wrong.count(True)


def _visible(text: str) -> str:
    """XML 1.0 has no way to write most control characters."""
    return "".join(c if c in "\n\t" or (c.isprintable() and c not in "\ufffe\uffff") else f"\\u{ord(c):04x}" for c in text)


def _text(text: str) -> str:
    return escape(_visible(text))


def _quoted(text: str) -> str:
    return quoteattr(_visible(text).replace("\n", " "))
