"""What is known of a placed parameter: its tensor, whether it is transposed, and which part of a fused tensor it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from specc.weights.safetensors import BITS, TensorInfo


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a fused tensor: `rows` holds every part with all its rows, in the order in which they take turns."""

    name: str
    rows: tuple[tuple[str, int], ...]
    groups: int = 1


@dataclass(frozen=True, slots=True)
class Stored:
    """A parameter's tensor. A transposed one swaps its last two axes; the part is cut along axis 0 after that.

    Where the rows lie in tensors of their own, those are the pieces, and the tensor is the first of them.
    """

    tensor: TensorInfo
    transposed: bool = False
    part: Part | None = None
    pieces: tuple[TensorInfo, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(piece.file for piece in self.pieces or (self.tensor,)))

    def moved(self, names: Mapping[Path, Path]) -> Stored:
        """The same in files of other names."""
        pieces = tuple(replace(piece, file=names[piece.file]) for piece in self.pieces)
        return replace(self, tensor=replace(self.tensor, file=names[self.tensor.file]), pieces=pieces)

    def row_range(self) -> tuple[int, int] | None:
        """First row and rows, where the part is a contiguous range of rows of the tensor as it is stored."""
        if self.part is None or self.transposed or self.part.groups != 1:
            return None
        first = 0
        for name, rows in self.part.rows:
            if name == self.part.name:
                return first, rows
            first += rows
        return None

    def byte_range(self) -> tuple[int, int] | None:
        """Offset in the file and length, where the parameter's bytes lie there in one piece and in order."""
        if self.pieces:
            return None
        if self.part is None:
            return None if self.transposed else (self.tensor.offset, self.tensor.length)
        if (found := self.row_range()) is None:
            return None
        row = self.tensor.length // max(1, self.tensor.shape[0])
        return self.tensor.offset + found[0] * row, found[1] * row

    @property
    def shape(self) -> tuple[int, ...]:
        """The parameter's shape, after transposing, cutting and gathering."""
        if self.pieces:
            return (len(self.pieces), *self.tensor.shape)
        shape = swapped(self.tensor.shape) if self.transposed else self.tensor.shape
        return shape if self.part is None else (dict(self.part.rows)[self.part.name], *shape[1:])

    @property
    def length(self) -> int:
        """The parameter's own bytes."""
        count = BITS[self.tensor.dtype] // 8
        for extent in self.shape:
            count *= extent
        return count


@dataclass(frozen=True, slots=True)
class Placement:
    """Every stored parameter. `layout` is `own` or the map's name; an optional parameter may be missing from `stored`.

    `files` are those that hold a stored parameter, links resolved; `names` are their names in the checkpoint's folder.
    """

    layout: str
    stored: dict[str, Stored]
    files: tuple[Path, ...]
    names: dict[Path, str] = field(default_factory=dict)


def swapped(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The last two axes exchanged; a vector stays as it is."""
    return (*shape[:-2], shape[-1], shape[-2]) if len(shape) > 1 else shape
