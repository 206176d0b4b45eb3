"""Findings: what is wrong, where, and what would be right."""

from specc.diagnostics.codes import CODES, Code
from specc.diagnostics.finding import Diagnostic, Report, Severity, SpecError

__all__ = ["CODES", "Code", "Diagnostic", "Report", "Severity", "SpecError"]
