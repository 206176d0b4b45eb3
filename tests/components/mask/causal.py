"""A query sees itself and what came before (Vaswani et al., 2017, section 3.2.3)."""

from __future__ import annotations

from tests.components.probe import Case, spec

CASES = (Case(spec(mask="causal"), (spec(mask="bidirectional"), spec(mask="sliding(4)"))),)


def visible(c, query: int, key: int, row) -> bool:
    return key <= query
