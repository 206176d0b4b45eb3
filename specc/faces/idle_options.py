"""Options that a command would pass over in silence: they are refused."""

from __future__ import annotations

import argparse

from specc.diagnostics.finding import fail


def refuse_idle(options: argparse.Namespace, neutral: dict[str, object], why: str, help: str | None = None) -> None:
    """neutral: each option with the value that it has when it is not given. Raises SpecError (SYS033)."""
    given = [f"--{name.replace('_', '-')}" for name, value in neutral.items() if getattr(options, name) != value]
    if given:
        raise fail("SYS033", f"{', '.join(given)}: {why}", None, help)
