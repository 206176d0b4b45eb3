"""A global token sees all others and is seen by all; the rest sees what the inner mask shows (Beltagy et al., 2020, section 3.1, figure 2d)."""

from __future__ import annotations

from tests.components.probe import Case, Probe, spec
from tests.oracle.formulas import formula


def _of(inner: str, **fields: object) -> str:
    return spec(mask=f"with_global({inner})", **fields)


_LAYERS = "layer near {{ mask = with_global({}) }}  layer far {{ mask = {} }}  layers = [near, far]"
CASES = (
    Case(_of("window(1, 1)"), (spec(mask="window(1, 1)"),)),
    Case(_of("causal", position="none"), (spec(mask="causal", position="none"),)),
    Case(_of("chunked(4)", position="alibi"), (spec(mask="chunked(4)", position="alibi"),)),
    Case(spec(_LAYERS.format("sliding(2)", "bidirectional"), mask=None), (spec(_LAYERS.format("sliding(3)", "bidirectional"), mask=None),)),
)
PROBES = {
    "inner": (
        Probe(_of("window(1, 1)"), _of("window(2, 1)")),
        Probe(_of("sliding(2)"), _of("sliding(3)")),
        Probe(_of("documents(causal)"), _of("causal")),
        Probe(_of("window(1, 2)", position="alibi"), _of("chunked(4)", position="alibi")),
    ),
}


def visible(c, query: int, key: int, row) -> bool:
    marked = row.inputs["global_attention_mask"]
    return bool(marked[query] or marked[key]) or formula(c.inner).visible(c.inner, query, key, row)
