"""Every key is visible (Devlin et al., 2018, section 3)."""

from __future__ import annotations

from tests.components.probe import Case, spec

CASES = (Case(spec(mask="bidirectional"), (spec(mask="causal"), spec(mask="sliding(4)"))),)


def visible(c, query: int, key: int, row) -> bool:
    return True
