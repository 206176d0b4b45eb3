"""The mask-dropout of ESM-2's code: (1 - 0.15 * 0.8) / (1 - the share of mask tokens among the real ones), zero at those."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Probe, spec


def _spec(arguments: str, **fields: object) -> str:
    return spec(embed=f"norm.embed(mask_dropout(tokens(), {arguments}) + learned_position())", mask="bidirectional", **fields)


PROBES = {
    "token": Probe(_spec("token: 23, share: 0.12"), _spec("token: 0, share: 0.12")),
    "share": Probe(_spec("token: 23, share: 0.12"), _spec("token: 23, share: 0.5")),
}


def vector(c, w, frame, b: int, t: int, x):
    ids, real = frame.inputs["input_ids"][b], frame.valid[b]
    if ids[t] == c.token:
        return np.zeros_like(x)
    return x * (1 - c.share) / (1 - sum(ids == c.token) / sum(real))
