"""A learned token beside the patches (Dosovitskiy et al., 2020, section 3.1)."""

from __future__ import annotations

from tests.components.probe import Case, Probe, picture

CASES = (Case(picture(embed="concat(class_token(), patches())"), (picture(embed="patches()"),)),)
PROBES = {
    "width": Probe(
        picture(embed="project(concat(class_token(width: 8), patches(width: 8)))"),
        picture(embed="project(concat(class_token(width: 12), patches(width: 12)))"),
    ),
}


def tokens(c, w, pixels, image):
    return w["weight"]
