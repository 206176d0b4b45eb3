"""Learned absolute positions (Devlin et al., 2018, section 3, figure 2); the offset is OPT's."""

from __future__ import annotations

from tests.components.probe import Probe, spec


def _with(arguments: str = "", **fields: object) -> str:
    return spec(embed=f"tokens() + learned_position({arguments})", position="none", **fields)


PROBES = {
    "width": Probe(
        spec(embed="tokens() + project(learned_position(width: 8))"), spec(embed="tokens() + project(learned_position(width: 12))")
    ),
    "length": (Probe(_with("length: 16"), _with("length: 13")), Probe(_with(context=16), _with(context=20), follows=("context",))),
    "offset": (
        Probe(_with("length: 16"), _with("length: 16, offset: 2")),
        Probe(_with("length: 16, offset: 1", mask="bidirectional"), _with("length: 16, offset: 2", mask="bidirectional")),
    ),
}


def vector(c, w, frame, b: int, t: int):
    return w["weight"][frame.position[b, t] + c.offset]
