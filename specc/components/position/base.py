"""What a positional scheme in attention may do; each part is nothing unless the scheme says otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from specc.ir.node import Component, Finding


class Position(Component):
    """Base of the axis."""

    axis: ClassVar[str] = "position"

    def check_heads(self, heads: int, head_dim: int) -> Iterator[Finding]:
        """What is wrong with it for heads of this width."""
        return iter(())

    def tables(self, g, frame, width: int):
        return None

    def rotate(self, g, q, k, heads: int, kv_heads: int, width: int, tables):
        return q, k

    def bias(self, g, frame, heads: int):
        return None

    def score_factor(self) -> float:
        """What latent attention multiplies its scale by."""
        return 1.0
