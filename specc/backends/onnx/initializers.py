"""The weights of a graph: initialisers that point into safetensors files, each where its bytes already lie."""

from __future__ import annotations

from typing import Any

from specc.backends.onnx import proto
from specc.weights.mapping import Part, Stored

DTYPES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "F64": "float64"}


class Initializers:
    """Own parameter keys to initialisers, made when first asked for."""

    def __init__(self, stored: dict[str, Stored]) -> None:
        self.stored = stored
        self.made: dict[str, Any] = {}

    def inline(self, name: str, array) -> str:
        self.made[name] = proto.inline(name, array)
        return name

    def default(self, name: str, array, dtype: str) -> None:
        """What an input of the graph is where the caller gives nothing: small, and inside the graph."""
        self.made[name] = proto.narrow(name, array, dtype)

    def has(self, key: str) -> bool:
        return key in self.stored

    def shape(self, key: str) -> tuple[int, ...]:
        """The extents of a whole parameter as it is stored."""
        return self.stored[key].tensor.shape

    def whole(self, key: str) -> tuple[str, str]:
        """A parameter as it is: its value's name and element type. Its bytes must be contiguous."""
        value, dtype, transposed = self.matrix(key)
        assert not transposed or len(self.stored[key].tensor.shape) == 1, f"{key} is stored transposed"
        return value, dtype

    def rows(self, key: str) -> tuple[list[str], str] | None:
        """The rows of a parameter that lie in tensors of their own, each [1, ...], and their element type; None where they lie together."""
        stored = self.stored[key]
        if not stored.pieces:
            return None
        dtype, names = DTYPES[stored.tensor.dtype], [f"{key}[{row}]" for row in range(len(stored.pieces))]
        for name, piece in zip(names, stored.pieces, strict=True):
            self._add(name, dtype, (1, *piece.shape), piece.file.name, piece.offset, piece.length)
        return names, dtype

    def is_cut(self, key: str) -> bool:
        """Whether a parameter is a part of a tensor in which its rows do not lie together."""
        stored = self.stored[key]
        return stored.part is not None and stored.row_range() is None

    def matrix(self, key: str) -> tuple[str, str, bool]:
        """-> name, element type, and whether it is stored as [in, out]."""
        stored = self.stored[key]
        tensor, dtype = stored.tensor, DTYPES[stored.tensor.dtype]
        shape, offset, length = tensor.shape, tensor.offset, tensor.length
        if stored.part is not None:
            first, rows = stored.row_range()
            row_bytes = length // shape[0]
            shape, offset, length = (rows, *shape[1:]), offset + first * row_bytes, rows * row_bytes
        self._add(key, dtype, shape, tensor.file.name, offset, length)
        return key, dtype, stored.transposed

    def fused(self, key: str) -> tuple[tuple[str, str, bool], Part]:
        """The whole tensor that a cut parameter is part of, named after all its parts, and how it is divided."""
        stored = self.stored[key]
        tensor, dtype = stored.tensor, DTYPES[stored.tensor.dtype]
        before, _, after = f".{key}.".rpartition(f".{stored.part.name}.")
        name = f"{before}.{'+'.join(part for part, _ in stored.part.rows)}.{after}".strip(".")
        self._add(name, dtype, tensor.shape, tensor.file.name, tensor.offset, tensor.length)
        return (name, dtype, stored.transposed), stored.part

    def _add(self, name: str, dtype: str, shape, file: str, offset: int, length: int) -> None:
        if name not in self.made:
            self.made[name] = proto.external(name, dtype, shape, file, offset, length)
