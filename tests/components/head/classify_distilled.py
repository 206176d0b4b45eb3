"""The mean of two classifiers, of the first and of the second token (Touvron et al., 2020, section 4)."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Case, Probe, Refused, picture
from tests.oracle.weights import linear


def _with(arguments: str, tokens: str = "class_token(), distillation_token(), patches()") -> str:
    return picture(head=f"classify_distilled({arguments})", embed=f"concat({tokens})")


CASES = (Case(_with("3"), (_with("3", "distillation_token(), class_token(), patches()"),)),)
PROBES = {
    "classes": (Probe(_with("3"), _with("4")), Refused(_with("3", "class_token(), patches()"), "IMG001")),
    "bias": Probe(_with("3"), _with("3, bias: false")),
}


def outputs(c, w, x, frame):
    return {"logits": np.array([(linear(w, "classes", image[0]) + linear(w, "distilled", image[1])) / 2 for image in x])}
