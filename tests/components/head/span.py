"""Answers as spans (Devlin et al., 2018, section 4.2): the dot products of each token with a start and an end vector."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Probe, spec
from tests.oracle.weights import linear

PROBES = {"bias": Probe(spec(head="span", mask="bidirectional"), spec(head="span(bias: false)", mask="bidirectional"))}


def outputs(c, w, x, frame):
    ends = np.array([[linear(w, "ends", token) for token in row] for row in x])
    return {"start_logits": ends[..., 0], "end_logits": ends[..., 1]}
