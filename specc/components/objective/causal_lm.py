"""Causal language modelling: the next token (Radford et al., 2018, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from specc.components.objective.base import Extents, Objective, over_vocabulary
from specc.ir.node import Dims, Finding


class CausalLanguageModeling(Objective):
    """The cross entropy of every token after the first, given those before it. The labels are the tokens themselves."""

    kind: Literal["causal_lm"] = "causal_lm"
    labels: ClassVar[str] = "[B, T], the tokens themselves, -100 where none is to be predicted"

    def fits(self, logits: Extents, causal: bool, dims: Dims) -> Iterator[Finding]:
        yield from over_vocabulary("causal_lm", logits, dims)
        if not causal:
            yield Finding("kind", "TRN001", "`causal_lm` predicts the next token, and a mask of this model lets it be seen", "`mask = causal` hides it")
