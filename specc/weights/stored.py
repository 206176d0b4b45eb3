"""What is known of a placed parameter: its tensor, whether it is transposed, and which part of a fused tensor it is."""

from __future__ import annotations

from dataclasses import dataclass, field
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
    """A parameter's tensor. A transposed one swaps its last two axes; the part is cut along axis 0 after that."""

    tensor: TensorInfo
    transposed: bool = False
    part: Part | None = None

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
        if self.part is None:
            return None if self.transposed else (self.tensor.offset, self.tensor.length)
        if (found := self.row_range()) is None:
            return None
        row = self.tensor.length // max(1, self.tensor.shape[0])
        return self.tensor.offset + found[0] * row, found[1] * row

    @property
    def shape(self) -> tuple[int, ...]:
        """The parameter's shape, after transposing and cutting."""
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
