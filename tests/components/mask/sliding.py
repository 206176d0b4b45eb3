"""A query sees the `window` latest keys, itself among them (Jiang et al., 2023, section 2)."""

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
    ),
}


def visible(c, query: int, key: int) -> bool:
    return key in range(query - c.window + 1, query + 1)
