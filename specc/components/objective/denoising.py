"""Denoising (Lewis et al., 2020, https://arxiv.org/abs/1910.13461, section 2.2: text infilling and sentence permutation)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from specc.components.objective.base import tokens
from specc.components.objective.seq2seq_lm import SequenceToSequence
from specc.ir.node import Dims, Finding, training


class Denoising(SequenceToSequence):
    """The text as it was before `corrupt`.

    Sentences, each ended by `sentence_end`, come in a drawn order (where it is none, they stay). Then `rate` of the tokens go:
    spans whose lengths are drawn from Poisson(mean_span), each replaced by one `mask_token`; one of length 0 is a mask put in.
    The first and the last token of a text take no part.
    """

    kind: Literal["denoising"] = "denoising"
    mask_token: int = training(..., ge=0)
    sentence_end: int | None = training(None)
    rate: float = training(0.3, gt=0, lt=1)
    mean_span: float = training(3.0, gt=0)

    def check(self, dims: Dims) -> Iterator[Finding]:
        yield from super().check(dims)
        yield from tokens(self.kind, {"mask_token": self.mask_token, "sentence_end": self.sentence_end}, dims)
