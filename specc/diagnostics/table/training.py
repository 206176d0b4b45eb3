"""TRN: what a model is trained for."""

from specc.diagnostics.codes import Code
from specc.diagnostics.table.example import spec


def codes() -> list[Code]:
    return [
        Code(
            "TRN001",
            "an objective that does not suit the model",
            "An objective is a loss of the head's logits: the next token needs a head over the vocabulary and masks that hide"
            " later tokens, masked tokens need masks that show them, classes a head that tells classes apart.",
            spec("objective = causal_lm", head="classify(3, pool: last)"),
            spec("objective = classification", head="classify(3, pool: last)"),
        ),
    ]
