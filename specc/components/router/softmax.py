"""Softmax routing (Shazeer et al., 2017, https://arxiv.org/abs/1701.06538; Fedus et al., 2021)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from specc.components.router.base import TopK
from specc.ir.node import Finding, structural


class Softmax(TopK):
    """Scores are the softmax over all experts (softmax_first), or over the chosen ones alone (top_k_first: Mixtral, gpt-oss)."""

    kind: Literal["softmax"] = "softmax"
    order: Literal["softmax_first", "top_k_first"] = structural("softmax_first")

    @property
    def top_k_first(self) -> bool:
        return self.order == "top_k_first"

    def check_experts(self, experts: int, top_k: int) -> Iterator[Finding]:
        yield from super().check_experts(experts, top_k)
        if self.top_k_first and (self.groups is not None or self.bias_correction):
            yield Finding("order", "TYP005", "groups and bias correction choose by score, so scores come first")

    def score(self, g, logits):
        return g.op("Softmax", logits, axis=-1)

    def inert(self, beside) -> tuple[str, ...]:
        """A softmax over the chosen experts is the softmax over all of them, normalised over the chosen ones."""
        found = super().inert(beside)
        if self.normalize_eps or self.normalize_min or self.bias_correction:
            return found
        return (*found, *(("order",) if self.normalize else ()), *(("normalize",) if self.top_k_first else ()))
