"""What comes before, and the whole prefix, are seen (Raffel et al., 2019, section 3.2.1, figures 3 and 4)."""

from __future__ import annotations

from tests.components.probe import Case, spec

_LAYERS = "layer p { mask = prefix }  layer c { mask = causal }  layers = [p, c]"
CASES = (
    Case(spec(mask="prefix"), (spec(mask="causal"), spec(mask="bidirectional"))),
    Case(spec(_LAYERS, mask=None), (spec(mask="prefix"), spec(mask="causal"))),
    Case(spec(mask="prefix", position="alibi"), (spec(mask="causal", position="alibi"),)),
)


def visible(c, query: int, key: int, row) -> bool:
    prefix = range(row.start, row.start + int(row.inputs["prefix_length"]))
    return key <= query or key in prefix
