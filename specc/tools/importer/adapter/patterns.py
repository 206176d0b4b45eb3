"""The names and patterns of a peft config. The file is not trusted: a pattern that could take long is refused."""

from __future__ import annotations

import re
from typing import Any

from specc.diagnostics.finding import fail

LONGEST, MOST_REPEATS = 300, 4


def matches_end(name: str, module: str) -> bool:
    """Whether an entry of a list such as `target_modules` means a module."""
    return module == name or module.endswith(f".{name}")


def matches_whole(pattern: str, module: str) -> bool:
    """Whether a pattern that stands alone means a module."""
    return re.fullmatch(safe(pattern), module) is not None


def value_of(patterns: Any, module: str, otherwise: Any) -> Any:
    """What `rank_pattern` or `alpha_pattern` says of a module, by the first pattern that its name ends with."""
    if not isinstance(patterns, dict):
        return otherwise
    for pattern, value in patterns.items():
        if re.match(rf"(.*\.)?({safe(pattern)})$", module):
            return value
    return otherwise


def safe(pattern: str) -> str:
    """The pattern, if it is sure to be decided soon. Raises SpecError."""
    repeats = len(re.findall(r"(?<!\\)[*+{]", pattern))
    if len(pattern) > LONGEST or repeats > MOST_REPEATS or re.search(r"\)[*+{?]|[*+}][*+{]", pattern):
        raise fail("ADP009", f"the pattern {pattern[:80]!r} is not one that specc evaluates", help="list the names of the modules instead")
    try:
        re.compile(pattern)
    except re.error as error:
        raise fail("ADP009", f"the pattern {pattern[:80]!r} cannot be read: {error}") from None
    return pattern
