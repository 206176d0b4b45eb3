"""What the proof feeds to a model: rows of tokens, whole and padded, and the pieces in which cached steps take them; or images."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from specc.ir.model import Model, Stack
from specc.ir.node import Input

if TYPE_CHECKING:
    from numpy import ndarray
    from numpy.random import Generator

BATCH, LENGTH, FEW = 2, 24, 6
PLAIN = 4  # the first ids of a vocabulary are often special ones, which a published model may treat in its own way
PADDING = 5  # columns of the last row
PIECES = (9, 5, 1, 1)
RUN = 5  # tokens of one document, on average


@dataclass(frozen=True, slots=True)
class Inputs:
    """A batch: the tokens, which of them are real, and what else the model asks for; of an encoder-decoder those are the target's."""

    given: dict[str, ndarray]
    mask: ndarray  # [B, T], 1 is real
    shapes: dict[str, tuple[int | str, ...]] = field(default_factory=dict)  # as declared, where it is another than [B, T]
    scalars: frozenset[str] = frozenset()  # the outputs that are one number for each token
    source: Inputs | None = None  # what the encoder reads

    @property
    def length(self) -> int:
        return self.mask.shape[1]

    def row(self, number: int) -> Inputs:
        """One row alone, without its padding."""
        import numpy as np

        real = self.mask[number].astype(bool)
        rows = {name: values.take([number], self._shape(name).index("B")) for name, values in self.given.items()}
        given = {name: values[..., real] if "B" != self._shape(name)[-1] else values for name, values in rows.items()}
        return replace(self, given=given, mask=np.ones((1, int(real.sum())), np.int64), source=self.source and self.source.row(number))

    def _shape(self, name: str) -> tuple[int | str, ...]:
        return self.shapes.get(name, ("B", "T"))

    def real(self, name: str, values: ndarray) -> ndarray:
        """An output's values at real tokens; all of those that belong to a whole sequence."""
        return values[self.mask.astype(bool)] if values.ndim == 3 or name in self.scalars else values

    def piece(self, start: int, end: int) -> Inputs:
        """What a call takes that brings these columns: of some tensors only them, of others all up to there."""

        def part(values: ndarray, shape: tuple[int | str, ...]) -> ndarray:
            return values if len(shape) == 1 else values[..., {"T": start, "S": 0}[shape[-1]] : end]

        given = {name: part(values, self._shape(name)) for name, values in self.given.items()}
        return replace(self, given=given, mask=self.mask[:, :end])


def proof_length(model: Model) -> int:
    """Tokens: more than any window holds, and no more than the model has positions for. Of an image: those of its own size."""
    if model.stack.dims.image is not None:
        return model.stack.dims.context or 0
    layers = [layer for stack in model.stacks for layer in stack.distinct]
    reach = max((layer.mask.reach or 0 for layer in layers), default=0)
    parts = [i.component for stack in model.stacks for i in stack.embedding.instances] + [layer.position for layer in layers]
    bounds = [getattr(part, "length", None) for part in parts]
    return min([max(LENGTH, 2 * min(reach, 256)), *(b for b in (*(stack.dims.context for stack in model.stacks), *bounds) if b)])


def inputs(model: Model, length: int, padded: bool, seed: int = 0) -> Inputs:
    """Random tokens. The padding of the last row is where the model expects it: left of a causal text, right of another.

    Of images, which have no padding: those of the model's own size, and in its place images of fewer rows and more columns.
    Of an encoder-decoder the source is padded, and one token shorter than the target.
    """
    import numpy as np

    draw = np.random.default_rng(seed)
    if model.encoder is not None:
        source = _tokens(model, model.encoder, max(length - 1, 1), padded, draw)
        target = _tokens(model, model.stack, length, False, draw)
        return replace(target, source=source)
    if image := model.stack.dims.image:
        (rows, columns), (down, across) = image.grid, image.patch
        if padded:
            rows, columns = max(1, rows - 1), columns + 1
        pixels = draw.standard_normal((BATCH, image.channels, rows * down, columns * across)).astype(np.float32)
        return Inputs({"pixel_values": pixels}, np.ones((BATCH, rows * columns + model.stack.dims.leading), np.int64))
    return _tokens(model, model.stack, length, padded, draw)


def _tokens(model: Model, stack: Stack, length: int, padded: bool, draw: Generator) -> Inputs:
    """What one stack reads."""
    import numpy as np

    wanted, given = model.inputs(stack), {}
    for part in stack.embedding.instances:
        for read in part.component.inputs():
            rows = part.parameters(stack.dims)[0].shape[0]  # a part reads its own table
            given[read.name] = draw.integers(PLAIN if rows > 4 * PLAIN else 0, rows, (BATCH, length), dtype=np.int64)
    mask = np.ones((BATCH, length), np.int64)
    hidden = min(PADDING, length - 1) if padded else 0
    if hidden and stack.causal:
        mask[-1, :hidden] = 0
    elif hidden:
        mask[-1, -hidden:] = 0
    for name in (name for name in wanted if name not in given):
        given[name] = _meant(wanted[name], draw, mask)
    scalars = frozenset(name for name, shape in model.outputs.items() if shape == ("batch", "sequence"))
    return Inputs(given, mask, {name: wanted[name].shape for name in given}, scalars)


def probing(model: Model, length: int) -> tuple[Inputs, ...]:
    """What every field is tried on: padded rows, long and short, since some fields are read in short texts only; images of two sizes."""
    if model.stack.dims.image is not None:
        return tuple(inputs(model, length, other, seed=1) for other in (False, True))
    return tuple(inputs(model, n, True, seed=1) for n in (length, min(FEW, length)))


def _meant(wanted: Input, draw: Generator, mask: ndarray) -> ndarray:
    """What is no row of a table."""
    import numpy as np

    if wanted.values == "beginning":
        return _beginnings(mask)
    if wanted.values == "positions":  # an axis may stand still or go back, as rows and columns of an image do
        return draw.integers(0, mask.shape[1], (wanted.shape[0], *mask.shape), dtype=np.int64)
    return _marks(mask) if wanted.values == "marks" else _runs(draw, mask)


def _marks(mask: ndarray) -> ndarray:
    """[B, T]: every row's first token and one amid it; none in the first row, where all of a model's reach is then seen."""
    import numpy as np

    marks = np.zeros_like(mask)
    marks[1:, 0] = marks[1:, mask.shape[1] // 2] = 1
    return marks


def _beginnings(mask: ndarray) -> ndarray:
    """[B]: most of the real tokens that the first piece holds, in every row."""
    first = mask[:, : pieces(mask.shape[1])[0]].sum(1)
    return first - first // 4


def _runs(draw: Generator, mask: ndarray) -> ndarray:
    """[B, T]: a new number every few tokens; one number in the first row, where all of a model's reach is then seen."""
    import numpy as np

    begins = draw.random(mask.shape) < 1 / RUN
    begins[0] = False
    return begins.cumsum(1).astype(np.int64)


def pieces(length: int) -> list[int]:
    """How many tokens each cached step takes."""
    found: list[int] = []
    for piece in PIECES:
        if sum(found) + piece < length:
            found.append(piece)
    return [*found, length - sum(found)]
