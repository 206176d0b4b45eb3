"""A linear map from a narrow embedding to the model's width (Lan et al., 2019, section 3.1)."""

from __future__ import annotations

from tests.components.probe import Probe, spec


def _with(arguments: str = "", **fields: object) -> str:
    return spec(embed=f"project(norm.embed(tokens(width: 8)){arguments})", **fields)


PROBES = {
    # the last map of an embedding is as wide as the model, so the model's width changes with it
    "width": Probe(_with(dim=16), _with(dim=24), follows=("dim", "width")),
    "bias": (
        Probe(_with(), _with(", bias: true")),
        Probe(spec(embed="tokens() + project(segments(2, width: 6))"), spec(embed="tokens() + project(segments(2, width: 6), bias: true)")),
    ),
}


def vector(c, w, frame, b: int, t: int, x):
    y = w["weight"] @ x
    return y + w["bias"] if c.bias else y
