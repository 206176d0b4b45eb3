"""Masked language modelling (Devlin et al., 2018, https://arxiv.org/abs/1810.04805, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from specc.components.objective.base import Extents, Objective, over_vocabulary, tokens
from specc.ir.node import Dims, Finding, training


class MaskedLanguageModeling(Objective):
    """The cross entropy of the tokens that `corrupt` has chosen, each with probability `rate`.

    Of the chosen ones `mask_share` become `mask_token`, `random_share` any token of the vocabulary, and the others stay.
    The tokens of `special` are never chosen.
    """

    kind: Literal["masked_lm"] = "masked_lm"
    labels: ClassVar[str] = "[B, T], -100 for tokens that are not to be predicted"
    mask_token: int = training(..., ge=0)
    rate: float = training(0.15, gt=0, lt=1)
    mask_share: float = training(0.8, ge=0, le=1)
    random_share: float = training(0.1, ge=0, le=1)
    special: tuple[int, ...] = training(())

    def check(self, dims: Dims) -> Iterator[Finding]:
        yield from tokens("masked_lm", {"mask_token": self.mask_token}, dims)
        for token in self.special:
            yield from tokens("masked_lm", {"special": token}, dims)
        if self.mask_share + self.random_share > 1 + 1e-9:
            yield Finding("random_share", "VAL004", f"`mask_share` and `random_share` are {self.mask_share + self.random_share:g} of the chosen tokens together", "they leave 0 or more")

    def fits(self, logits: Extents, causal: bool, dims: Dims) -> Iterator[Finding]:
        yield from over_vocabulary("masked_lm", logits, dims)
        if causal:
            yield Finding("kind", "TRN001", "`masked_lm` predicts a token from both sides, and every mask of this model is causal", "`mask = bidirectional` shows both")
