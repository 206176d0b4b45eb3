"""Findings: what is wrong, where, and what would be right."""

from specc.diagnostics.codes import Code, table
from specc.diagnostics.finding import Diagnostic, Report, Severity, SpecError

__all__ = ["CODES", "Code", "Diagnostic", "Report", "Severity", "SpecError"]


def __getattr__(name: str) -> dict[str, Code]:
    if name == "CODES":
        return table()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
