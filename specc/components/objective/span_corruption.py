"""Span corruption (Raffel et al., 2020, https://arxiv.org/abs/1910.10683, sections 3.1.4 and 3.3.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from specc.components.objective.base import tokens
from specc.components.objective.seq2seq_lm import SequenceToSequence
from specc.ir.node import Dims, Finding, training


class SpanCorruption(SequenceToSequence):
    """What `corrupt` has taken out of the text, each span behind the sentinel that stands in its place.

    Of a row `rate` of the tokens are taken out, in so many spans that they are `mean_span` long on average; where they are
    and how long is drawn. The sentinels are `sentinel` and the tokens before it, one for each span; `end` follows inputs and
    labels, if there is one.
    """

    kind: Literal["span_corruption"] = "span_corruption"
    sentinel: int = training(..., gt=0)
    rate: float = training(0.15, gt=0, lt=1)
    mean_span: float = training(3.0, ge=1)
    end: int | None = training(None)

    def check(self, dims: Dims) -> Iterator[Finding]:
        yield from super().check(dims)
        yield from tokens(self.kind, {"sentinel": self.sentinel, "end": self.end}, dims)
