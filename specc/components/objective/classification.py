"""Classification, of sequences or of their tokens (Devlin et al., 2018, section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from specc.components.objective.base import Extents, Objective
from specc.ir.node import Dims, Finding


class Classification(Objective):
    """The cross entropy of the classes."""

    kind: Literal["classification"] = "classification"
    labels: ClassVar[str] = "the number of each class, as many as the logits have rows, -100 for no target"

    def fits(self, logits: Extents, causal: bool, dims: Dims) -> Iterator[Finding]:
        if not isinstance(logits[-1], int) or logits[-1] == dims.vocab:
            yield Finding("kind", "TRN001", "`classification` needs logits of classes, and the head gives none", "`classify` and `classify_tokens` do")
