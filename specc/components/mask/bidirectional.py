"""No mask: every query sees every key (Devlin et al., 2018)."""

from __future__ import annotations

from typing import Literal

from specc.components.mask.base import Mask


class Bidirectional(Mask):
    """A query sees every key of its sequence."""

    kind: Literal["bidirectional"] = "bidirectional"
