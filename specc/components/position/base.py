"""What a positional scheme in attention may do; each part is nothing unless the scheme says otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from specc.ir.node import Component, Dims, Finding, HeadDims, Parameter


class Position(Component):
    """Base of the axis.

    per_head: whether its bias differs from head to head, so that all attentions of a layer must have as many.
    beside_absolute: whether published models have it beside positions in the embedding.
    """

    axis: ClassVar[str] = "position"
    per_head: ClassVar[bool] = False
    beside_absolute: ClassVar[bool] = False

    def check_beside(self, attentions: Sequence[Component]) -> Iterator[Finding]:
        """What is wrong with it for the attentions of a layer."""
        for attention in attentions:
            yield from self.check_heads(attention.heads, attention.head_dim)
            if self.scores and not attention.takes_score:
                yield Finding("kind", "CAP006", f"`{attention.kind}` takes no term that each layer makes for itself, as `{self.kind}` has it")
            if self.reads_contents and getattr(attention, "kv_heads", attention.heads) != attention.heads:
                yield Finding("kind", "CAP006", f"`{self.kind}` scores the key of each head, and here heads share keys")
        if self.reads_contents and len({(a.heads, a.head_dim, getattr(a, "scale", None)) for a in attentions}) > 1:
            yield Finding("kind", "SHP009", f"`{self.kind}` scores heads of one kind, and the attentions of this layer differ in heads, width or scale")
        if self.per_head and len({attention.heads for attention in attentions}) > 1:
            yield Finding("kind", "SHP009", f"`{self.kind}` has a term for each head, and the attentions of this layer differ in heads")

    def check_heads(self, heads: int, head_dim: int) -> Iterator[Finding]:
        """What is wrong with it for heads of this width."""
        return iter(())

    @property
    def scores(self) -> bool:
        """Whether `score` gives a term."""
        return False

    @property
    def reads_contents(self) -> bool:
        """Whether that term depends on queries and keys."""
        return False

    def tables(self, g, frame, width: int):
        return None

    def rotate(self, g, q, k, heads: int, kv_heads: int, width: int, tables):
        return q, k

    def bias(self, g, frame, heads: int):
        return None

    def score(self, g, q, k, call, attention):
        """A term [1 or B, H, T, S] of one layer. q [B, T, H*D], k [B, S, K*D]; in the scope of the attention."""
        return None

    def parameters(self, dims: HeadDims) -> tuple[Parameter, ...]:
        """What each attention that it serves holds under `position`."""
        return ()

    def shared_parameters(self, dims: HeadDims) -> tuple[Parameter, ...]:
        """What all layers of a stack that have the scheme share, held beside them."""
        return ()

    def flops(self, dims: Dims, context: float) -> int:
        return 0

    def score_factor(self) -> float:
        """What latent attention multiplies its scale by."""
        return 1.0
