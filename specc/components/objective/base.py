"""What the objectives have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from specc.ir.node import Component, Dims, Finding, training

Extents = tuple[int | str, ...]


class Objective(Component):
    """The mean cross entropy of the labels; a label of -100 is left out.

    label_smoothing: this share of each target is spread over all classes (Szegedy et al., 2015,
    https://arxiv.org/abs/1512.00567).
    """

    axis: ClassVar[str] = "objective"
    labels: ClassVar[str] = "[B, T], -100 for no target"  # what a reader of the generated code has to know of them
    of_two: ClassVar[bool] = False  # whether it is about an encoder and a decoder
    label_smoothing: float = training(0.0, ge=0, lt=1)

    def fits(self, logits: Extents | None, causal: bool, dims: Dims) -> Iterator[Finding]:
        """What is wrong with it for a head whose logits have these extents, None where it has none."""
        return iter(())


def over_vocabulary(name: str, logits: Extents | None, dims: Dims) -> Iterator[Finding]:
    """The logits must be those of tokens."""
    if logits is None or dims.vocab is None or logits != ("batch", "sequence", dims.vocab):
        yield Finding("kind", "TRN001", f"`{name}` predicts tokens, and the head gives no logits over the vocabulary", "`head = lm(...)` and `head = mlm(...)` do")


def tokens(name: str, ids: dict[str, int | None], dims: Dims) -> Iterator[Finding]:
    """Every token that is named is in the vocabulary."""
    for field, value in ids.items():
        if value is not None and not 0 <= value < (dims.vocab or 0):
            yield Finding(field, "VAL001", f"`{field}` of `{name}` is {value}, and the vocabulary holds {dims.vocab} tokens")
