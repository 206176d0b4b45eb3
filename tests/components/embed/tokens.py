"""Token embedding (Vaswani et al., 2017, section 3.4)."""

from __future__ import annotations

from tests.components.probe import Probe, spec

PROBES = {
    "width": Probe(spec(embed="project(tokens(width: 8))"), spec(embed="project(tokens(width: 12))")),
    "vocab": (
        Probe(spec(embed="tokens(vocab: 24)"), spec(embed="tokens(vocab: 40)")),
        Probe(spec(head="lm(tied: true)", vocab=24), spec(head="lm(tied: true)", vocab=40)),
    ),
    "scale": (
        Probe(spec(embed="tokens()"), spec(embed="tokens(scale: sqrt(dim))")),
        Probe(spec(embed="tokens(scale: 0.5)"), spec(embed="tokens(scale: 2)")),
        Probe(spec(embed="tokens(scale: 0.5)", head="lm(tied: true)"), spec(embed="tokens(scale: 2)", head="lm(tied: true)")),
        Probe(spec(embed="tokens(scale: 0.5) + learned_position()"), spec(embed="tokens(scale: 2) + learned_position()")),
    ),
}


def vector(c, w, frame, b: int, t: int):
    return c.scale * w["weight"][frame.inputs["input_ids"][b, t]]
