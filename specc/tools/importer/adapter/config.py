"""Reads an adapter_config.json, and holds each of its fields to what is known of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from specc.diagnostics.finding import Report, fail
from specc.tools.importer.adapter.fields import KINDS, MEANINGLESS, NEUTRAL, USED
from specc.tools.importer.config import read_config

FILE = "adapter_config.json"


def read_adapter_config(folder: Path, report: Report, allow: frozenset[str] = frozenset()) -> tuple[str, dict[str, Any]]:
    """-> the method's kind and the fields. What would be dropped and is not neutral is an error, what is unknown a warning."""
    _, config = read_config(folder / FILE)
    kind = config.get("peft_type")
    if not isinstance(kind, str) or kind not in KINDS:
        known = ", ".join(KINDS)
        raise fail("ADP009", f"the language has no method for peft's {kind!r}"[:200], help=f"it has methods for {known}")
    for name, value in config.items():
        if name in USED or name in MEANINGLESS:
            continue
        if name in NEUTRAL:
            values, meaning = NEUTRAL[name]
            if not any(type(value) is type(v) and value == v for v in values) and name not in allow:
                report.error("ADP009", f"`{name}` ({_short(value)}) asks for {meaning}, which the language does not have")
        elif value is not None and name not in allow:
            report.warn("ADP010", f"`{name}` ({_short(value)}) is not known and was not taken over")
    report.raise_errors()
    return KINDS[kind], config


def natural(config: dict[str, Any], name: str, default: int | None = None) -> int:
    value = config.get(name, default)
    if type(value) is not int or not 0 < value < 1 << 31:
        raise fail("ADP009", f"`{name}` is {_short(value)}, and it must be a whole number above 0")
    return value


def positive(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e9:
        raise fail("ADP009", f"`{name}` is {_short(value)}, and it must be a number above 0")
    return value


def switch(config: dict[str, Any], name: str) -> bool:
    value = config.get(name, False)
    if value not in (True, False, None):
        raise fail("ADP009", f"`{name}` is {_short(value)}, and it must be true or false")
    return bool(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
