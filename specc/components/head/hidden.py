"""No head: the last hidden state itself."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.components.head.base import Head
from specc.ir.node import Dims


class Hidden(Head):
    """The hidden state of every token after the last layer (and the final norm, where the model has one)."""

    kind: Literal["hidden"] = "hidden"
    outputs: ClassVar[tuple[str, ...]] = ("last_hidden_state",)

    def output_shape(self, name: str, dims: Dims) -> tuple[int | str, ...]:
        return ("batch", "sequence", dims.dim)

    def lower(self, g, x, call):
        return {"last_hidden_state": call.frame.sequences(x)}
