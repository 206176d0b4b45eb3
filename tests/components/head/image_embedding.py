"""The first token through a norm and a linear map (Radford et al., 2021, section 2.3, figure 3)."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Probe, picture
from tests.oracle.formulas import normalise
from tests.oracle.weights import linear


def _with(arguments: str) -> str:
    return picture(head=f"image_embedding({arguments})", final_norm="none")


PROBES = {
    "width": Probe(_with("6"), _with("5")),
    "norm": (
        Probe(_with("6"), _with("6, norm: layer(eps: 1e-5)")),
        Probe(_with("6, norm: layer(eps: 1e-5)"), _with("6, norm: layer(eps: 0.1)"), follows=("eps",)),
    ),
    "bias": Probe(_with("6"), _with("6, bias: true")),
}


def outputs(c, w, x, frame):
    vectors = [image[0] if c.norm is None else normalise(c.norm, w.under("norm"), image[0]) for image in x]
    return {"image_embeds": np.array([linear(w, "project", vector) for vector in vectors]), "last_hidden_state": x}
