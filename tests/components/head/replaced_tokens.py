"""Replaced-token detection (Clark et al., 2020, section 2): a score for each token, without its sigmoid."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Probe, spec
from tests.oracle.formulas import activate
from tests.oracle.weights import linear


def _spec(activation: str) -> str:
    return spec(head=f"replaced_tokens(activation: {activation})", mask="bidirectional")


PROBES = {"activation": Probe(_spec("gelu"), _spec("tanh"))}


def outputs(c, w, x, frame):
    return {"logits": np.array([[linear(w, "score", activate(c.activation, linear(w, "dense", token)))[0] for token in row] for row in x])}
