"""The last hidden state itself."""

from __future__ import annotations

from tests.components.probe import Case, spec

CASES = (
    Case(spec(head="hidden"), (spec(head="hidden", final_norm="none"), spec(head="lm(tied: true)"))),
    Case(spec(head="hidden", mask="bidirectional", block="post_norm"), (spec(head="hidden", block="post_norm"),)),
)


def outputs(c, w, x, frame):
    return {"last_hidden_state": x}
