"""Attention temperature by position (Llama 4, Meta, 2025; Nakanishi, 2025, section 3), one query at a time."""

from __future__ import annotations

import math

from tests.components.probe import Probe, spec


def _with(mask: str = "causal", rest: str = "", **fields: object) -> str:
    given = ", ".join(f"{name}: {value}" for name, value in ({"scale": 0.8, "every": 3} | fields).items())
    return spec(attention=f"attention(heads: 4, kv_heads: 2, head_dim: 6, temperature: logarithmic({given}){rest})", mask=mask)


PROBES = {
    "scale": (
        Probe(_with(), _with(scale=-0.3)),
        Probe(_with(mask="bidirectional"), _with(mask="bidirectional", scale=2)),
        Probe(_with(rest=", sinks: true"), _with(rest=", sinks: true", scale=2)),
    ),
    "every": (
        Probe(_with(every=3), _with(every=2)),
        Probe(_with(mask="sliding(4)", of="columns"), _with(mask="sliding(4)", of="columns", every=1)),
    ),
    "first": (Probe(_with(), _with(first=1)), Probe(_with(of="columns", first=1), _with(of="columns", first=2))),
    "of": Probe(_with(), _with(of="columns")),
}


def factor(c, position: int, column: int) -> float:
    count = column if c.of == "columns" else position
    return 1 + c.scale * math.log(1 + (count + c.first) // c.every)
