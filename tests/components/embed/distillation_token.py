"""A learned token beside the patches (Touvron et al., 2020, section 4)."""

from __future__ import annotations

from tests.components.probe import Case, Probe, picture

CASES = (Case(picture(embed="concat(distillation_token(), patches())"), (picture(embed="patches()"),)),)
PROBES = {
    "width": Probe(
        picture(embed="project(concat(distillation_token(width: 8), patches(width: 8)))"),
        picture(embed="project(concat(distillation_token(width: 12), patches(width: 12)))"),
    ),
}


def tokens(c, w, pixels, image):
    return w["weight"]
