"""Mutated specs end in a model or in diagnostics, whatever was done to them; what still parses prints and parses to the same tree."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzz.mutated import outcome, texts

CHUNKS, EACH = 8, 250


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_mutated_spec_ends_in_a_model_or_in_diagnostics(chunk: int) -> None:
    found = Counter()
    for path, text in texts(chunk, EACH):
        try:
            found[outcome(path, text)] += 1
        except Exception as error:
            raise AssertionError(f"{path.stem} mutated to\n{text}") from error
    assert found["model"] and len(found) > 15, found  # neither harmless nor all alike
