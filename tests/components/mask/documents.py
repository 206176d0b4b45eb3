"""A query sees what the inner mask shows, and of that only its own document (Krell et al., 2021, section 3.2.2, figure 2)."""

from __future__ import annotations

from tests.components.probe import Case, Probe, spec
from tests.oracle.formulas import formula


def _of(inner: str, **fields: object) -> str:
    return spec(mask=f"documents({inner})", **fields)


_LAYERS = "layer near {{ mask = documents({}) }}  layer far {{ mask = {} }}  layers = [near, far]"
CASES = (
    Case(_of("causal"), (spec(mask="causal"),)),
    Case(_of("bidirectional", position="none"), (spec(mask="bidirectional", position="none"),)),
    Case(spec(_LAYERS.format("sliding(2)", "documents(causal)"), mask=None), (spec(_LAYERS.format("sliding(2)", "causal"), mask=None),)),
)
PROBES = {
    "inner": (
        Probe(_of("causal"), _of("bidirectional")),
        Probe(_of("causal"), _of("sliding(2)")),
        Probe(_of("sliding(2)"), _of("sliding(3)")),
        Probe(_of("window(1, 2)"), _of("window(2, 2)")),
        Probe(_of("prefix"), _of("causal")),
        Probe(_of("chunked(4)", position="alibi"), _of("chunked(5)", position="alibi")),
    ),
}


def visible(c, query: int, key: int, row) -> bool:
    ids = row.inputs["document_ids"]
    return ids[query] == ids[key] and formula(c.inner).visible(c.inner, query, key, row)
