"""A query sees `left` keys before and `right` keys after itself, and itself (Beltagy et al., 2020, section 3.1)."""

from __future__ import annotations

from tests.components.probe import Probe, spec


def _alternating(window: str) -> str:
    layers = f"layer local {{ mask = {window} }}  layer global {{ mask = bidirectional }}  layers = [local, global]"
    return spec(layers, mask=None)


PROBES = {
    "left": (
        Probe(spec(mask="window(2, 2)"), spec(mask="window(3, 2)")),
        Probe(spec(mask="window(0, 3)"), spec(mask="window(1, 3)")),
        Probe(spec(mask="window(2, 0)"), spec(mask="window(4, 0)")),
        Probe(spec(mask="window(10, 1)"), spec(mask="window(11, 1)")),
        Probe(_alternating("window(1, 1)"), _alternating("window(2, 1)")),
    ),
    "right": (
        Probe(spec(mask="window(2, 2)"), spec(mask="window(2, 3)")),
        Probe(spec(mask="window(left: 3, right: 0)"), spec(mask="window(left: 3, right: 1)")),
        Probe(spec(mask="window(1, 10)", position="alibi"), spec(mask="window(1, 11)", position="alibi")),
        Probe(_alternating("window(1, 1)"), _alternating("window(1, 3)")),
    ),
}


def visible(c, query: int, key: int, row) -> bool:
    return -c.left <= key - query <= c.right
