"""Register tokens (Darcet et al., 2023): learned vectors, put behind the class token once it has its position."""

from __future__ import annotations

from tests.components.probe import Case, Probe, Refused, picture


def _with(arguments: str, at: int = 1) -> str:
    return picture(
        embed=f"insert(registers({arguments}), at: {at}, into: concat(class_token(), distillation_token(), patches()) + learned_position())"
    )


CASES = (
    Case(
        _with("3"),
        (
            _with("3", at=0),
            _with("3", at=2),
            picture(embed="concat(class_token(), registers(3), distillation_token(), patches()) + learned_position()"),
        ),
    ),
)
PROBES = {
    "count": (
        Probe(_with("3"), _with("2"), follows=("context",)),
        Refused(_with("3", at=3), "IMG001"),
        Refused(picture(embed="concat(patches(), registers(3))"), "IMG001"),
        Refused(picture(embed="registers(3)"), "IMG001"),
    ),
    "width": Probe(
        picture(embed="project(concat(registers(3, width: 8), patches(width: 8)))"),
        picture(embed="project(concat(registers(3, width: 12), patches(width: 12)))"),
    ),
}


def tokens(c, w, pixels, image):
    return w["weight"]
