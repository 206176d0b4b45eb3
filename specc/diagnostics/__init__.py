"""Findings: what is wrong, where, and what would be right."""

from specc.diagnostics import codes as _codes
from specc.diagnostics.codes import Code
from specc.diagnostics.finding import Diagnostic, Report, Severity, SpecError

__all__ = ["CODES", "Code", "Diagnostic", "Report", "Severity", "SpecError"]


def __getattr__(name: str) -> dict[str, Code]:
    if name == "CODES":
        return _codes.all_codes()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
