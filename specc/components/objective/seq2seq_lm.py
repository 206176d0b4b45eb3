"""What an encoder-decoder is trained for: the text that follows from another one (Sutskever et al., 2014; Vaswani et al., 2017)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from specc.components.objective.base import Extents, Objective, over_vocabulary, tokens
from specc.ir.node import Dims, Finding, training


class SequenceToSequence(Objective):
    """The cross entropy of the labels, the decoder having read them shifted by one: `start`, then all but the last.

    A label of -100 is read as `pad`.
    """

    kind: Literal["seq2seq_lm"] = "seq2seq_lm"
    labels: ClassVar[str] = "[B, T], -100 for no target; the decoder reads them shifted where it is given nothing"
    of_two: ClassVar[bool] = True
    start: int = training(..., ge=0)
    pad: int = training(..., ge=0)

    def check(self, dims: Dims) -> Iterator[Finding]:
        yield from tokens(self.kind, {"start": self.start, "pad": self.pad}, dims)

    def fits(self, logits: Extents, causal: bool, dims: Dims) -> Iterator[Finding]:
        yield from over_vocabulary(self.kind, logits, dims)
