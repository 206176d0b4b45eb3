"""Next-sentence prediction (Devlin et al., 2018, https://arxiv.org/abs/1810.04805, section 3.1, task 2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from specc.components.objective.base import Extents, Objective, tokens
from specc.ir.node import Dims, Finding, training


class NextSentence(Objective):
    """The cross entropy of whether the second of two sentences follows the first: class 0 where it does.

    `pair_sentences` puts them together, and with probability `rate` takes the second sentence of another row.
    """

    kind: Literal["next_sentence"] = "next_sentence"
    labels: ClassVar[str] = "[B], 0 where the second sentence follows the first, 1 where not"
    target: ClassVar[str] = "next_sentence_label"
    first_token: int = training(..., ge=0)
    separator: int = training(..., ge=0)
    rate: float = training(0.5, gt=0, lt=1)

    def check(self, dims: Dims) -> Iterator[Finding]:
        yield from tokens("next_sentence", {"first_token": self.first_token, "separator": self.separator}, dims)

    def fits(self, logits: Extents, causal: bool, dims: Dims) -> Iterator[Finding]:
        if logits != ("batch", 2):
            yield Finding("kind", "TRN001", "`next_sentence` tells two classes of sequences apart, and the head does not", "`head = sentence_order` does")
