"""Next-sentence prediction (Devlin et al., 2018, section 3.1): classes of the pooled first token."""

from __future__ import annotations

import numpy as np

from tests.components.probe import Probe, spec
from tests.oracle.weights import linear

_MLM = "mlm(tied: false, activation: tanh, norm: layer(eps: 1e-5))"


def _spec(head: str) -> str:
    return spec(head=head, mask="bidirectional")


PROBES = {
    "classes": (
        Probe(_spec("sentence_order"), _spec("sentence_order(classes: 3)")),
        Probe(_spec(f"[{_MLM}, sentence_order]"), _spec(f"[{_MLM}, sentence_order(classes: 3)]")),
    )
}


def outputs(c, w, x, frame):
    return {"seq_relationship_logits": np.array([linear(w, "classes", np.tanh(linear(w, "dense", row[0]))) for row in x])}
