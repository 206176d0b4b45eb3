"""What the objectives have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    target: ClassVar[str] = "labels"  # what they are called beside those of other objectives
    of_two: ClassVar[bool] = False  # whether it is about an encoder and a decoder
    label_smoothing: float = training(0.0, ge=0, lt=1)

    def fits(self, logits: Extents, causal: bool, dims: Dims) -> Iterator[Finding]:
        """What is wrong with it for an output of a head that has these extents."""
        return iter(())

    def reads(self, outputs: Mapping[str, Extents], causal: bool, dims: Dims) -> str | None:
        """The first output that it can be about; None where there is none."""
        return next((name for name, extents in outputs.items() if name.endswith("logits") and not list(self.fits(extents, causal, dims))), None)


def over_vocabulary(name: str, logits: Extents, dims: Dims) -> Iterator[Finding]:
    """The logits must be those of tokens."""
    if dims.vocab is None or logits != ("batch", "sequence", dims.vocab):
        yield Finding("kind", "TRN001", f"`{name}` predicts tokens, and the head gives no logits over the vocabulary", "`head = lm(...)` and `head = mlm(...)` do")


def tokens(name: str, ids: dict[str, int | None], dims: Dims) -> Iterator[Finding]:
    """Every token that is named is in the vocabulary."""
    for field, value in ids.items():
        if value is not None and not 0 <= value < (dims.vocab or 0):
            yield Finding(field, "VAL001", f"`{field}` of `{name}` is {value}, and the vocabulary holds {dims.vocab} tokens")
