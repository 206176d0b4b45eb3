"""Segment embedding (Devlin et al., 2018, section 3, figure 2)."""

from __future__ import annotations

from tests.components.probe import Probe, spec

PROBES = {
    "width": Probe(spec(embed="tokens() + project(segments(2, width: 8))"), spec(embed="tokens() + project(segments(2, width: 12))")),
    "count": (Probe(spec(embed="tokens() + segments(2)"), spec(embed="tokens() + segments(3)")),),
}


def vector(c, w, frame, b: int, t: int):
    return w["weight"][frame.inputs["token_type_ids"][b, t]]
