"""A query sees the `window` latest keys, itself among them (Jiang et al., 2023, section 2), and the first tokens (Xiao et al., 2023)."""

from __future__ import annotations

from tests.components.probe import Probe, spec


def _alternating(window: int) -> str:
    layers = f"layer local {{ mask = sliding({window}) }}  layer global {{ mask = causal }}  layers = [local, global]"
    return spec(layers, mask=None)


PROBES = {
    "window": (
        Probe(spec(mask="sliding(4)"), spec(mask="sliding(5)")),
        Probe(spec(mask="sliding(1)"), spec(mask="sliding(2)")),
        Probe(spec(mask="sliding(11)"), spec(mask="sliding(12)")),
        Probe(_alternating(3), _alternating(6)),
        Probe(spec(mask="sliding(2, keep_first: 2)"), spec(mask="sliding(4, keep_first: 2)")),
    ),
    "keep_first": (
        Probe(spec(mask="sliding(3)"), spec(mask="sliding(3, keep_first: 1)")),
        Probe(spec(mask="sliding(3, keep_first: 2)"), spec(mask="sliding(3, keep_first: 4)")),
        Probe(spec(mask="sliding(1, keep_first: 1)", position="alibi"), spec(mask="sliding(1, keep_first: 2)", position="alibi")),
    ),
}


def visible(c, query: int, key: int, row) -> bool:
    recent = key in range(query - c.window + 1, query + 1)
    first = row.start <= key < row.start + c.keep_first
    return recent or (first and key <= query)
