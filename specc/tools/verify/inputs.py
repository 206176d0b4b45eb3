"""What the proof feeds to a model: rows of tokens, whole and padded, and the pieces in which cached steps take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specc.ir.model import Model

if TYPE_CHECKING:
    from numpy import ndarray

BATCH, LENGTH, FEW = 2, 24, 6
PLAIN = 4  # the first ids of a vocabulary are often special ones, which a published model may treat in its own way
PADDING = 5  # columns of the last row
PIECES = (9, 5, 1, 1)


@dataclass(frozen=True, slots=True)
class Inputs:
    """A batch: the tokens, and which of them are real."""

    given: dict[str, ndarray]  # input_ids and whatever else the model asks for, each [B, T]
    mask: ndarray  # [B, T], 1 is real

    @property
    def length(self) -> int:
        return self.mask.shape[1]

    def row(self, number: int) -> Inputs:
        """One row alone, without its padding."""
        import numpy as np

        real = self.mask[number].astype(bool)
        given = {name: values[number : number + 1, real] for name, values in self.given.items()}
        return Inputs(given, np.ones((1, int(real.sum())), np.int64))


def proof_length(model: Model) -> int:
    """Tokens: more than any window holds, and no more than the model has positions for."""
    reach = max((layer.mask.reach or 0 for layer in model.stack.layers), default=0)
    bounds = [getattr(i.component, "length", None) for i in model.stack.embedding.instances]
    return min([max(LENGTH, 2 * min(reach, 256)), *(b for b in (model.stack.dims.context, *bounds) if b)])


def inputs(model: Model, length: int, padded: bool, seed: int = 0) -> Inputs:
    """Random tokens. The padding of the last row is where the model expects it: left of a causal text, right of another."""
    import numpy as np

    draw = np.random.default_rng(seed)
    given = {}
    for part in model.stack.embedding.instances:
        for wanted in part.component.inputs():
            rows = part.parameters(model.stack.dims)[0].shape[0]  # a part reads its own table
            given[wanted.name] = draw.integers(PLAIN if rows > 4 * PLAIN else 0, rows, (BATCH, length), dtype=np.int64)
    mask = np.ones((BATCH, length), np.int64)
    hidden = min(PADDING, length - 1) if padded else 0
    if hidden and model.stack.causal:
        mask[-1, :hidden] = 0
    elif hidden:
        mask[-1, -hidden:] = 0
    return Inputs(given, mask)


def pieces(length: int) -> list[int]:
    """How many tokens each cached step takes."""
    found: list[int] = []
    for piece in PIECES:
        if sum(found) + piece < length:
            found.append(piece)
    return [*found, length - sum(found)]
