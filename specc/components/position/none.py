"""No positional scheme in attention (Kazemnejad et al., 2023, https://arxiv.org/abs/2305.19466)."""

from __future__ import annotations

from typing import Literal

from specc.components.position.base import Position


class NoPosition(Position):
    """Attention knows positions only through the mask and the embedding."""

    kind: Literal["none"] = "none"
