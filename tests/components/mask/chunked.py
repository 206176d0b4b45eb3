"""A query sees the earlier keys of its own block, and itself; a block is `size` columns from the first real token on (Llama 4)."""

from __future__ import annotations

from tests.components.probe import Probe, spec


def _turns(size: int) -> str:
    layers = f"layer local {{ mask = chunked({size}) }}  layer global {{ mask = causal  position = none }}  layers = [local, global]"
    return spec(layers, mask=None)


PROBES = {
    "size": (
        Probe(spec(mask="chunked(4)"), spec(mask="chunked(5)")),
        Probe(spec(mask="chunked(1)"), spec(mask="chunked(2)")),
        Probe(spec(mask="chunked(11)"), spec(mask="chunked(12)")),
        Probe(_turns(3), _turns(6)),
    ),
}


def visible(c, query: int, key: int, row) -> bool:
    blocks = [list(range(begin, begin + c.size)) for begin in range(row.start, query + 1, c.size)]
    return key <= query and any(query in block and key in block for block in blocks)
