"""Parameters as numpy arrays: memory-mapped where they lie in one piece, else transposed and cut; and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from specc.weights.safetensors import TensorInfo
from specc.weights.stored import Part, Stored

if TYPE_CHECKING:
    from numpy import ndarray

# numpy knows no bfloat16: its bits stand in 16-bit integers. Files are little-endian on every machine.
NUMPY = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}


def load(stored: Stored, widen: bool = False) -> ndarray:
    """The parameter, in its own shape. BF16 comes as its bits in uint16; with `widen`, BF16 and F16 come as float32."""
    import numpy as np

    array = np.stack([_mapped(piece) for piece in stored.pieces]) if stored.pieces else _mapped(stored.tensor)
    if stored.transposed:
        array = np.swapaxes(array, -1, -2)
    if stored.part is not None:
        array = cut(array, stored.part)
    return widened(array, stored.tensor.dtype) if widen else array


def _mapped(tensor: TensorInfo) -> ndarray:
    import numpy as np

    if tensor.length == 0:  # an empty range cannot be mapped
        return np.empty(tensor.shape, NUMPY[tensor.dtype])
    return np.memmap(tensor.file, NUMPY[tensor.dtype], "r", tensor.offset, tensor.shape)


def cut(array: ndarray, part: Part) -> ndarray:
    """The rows of one part. Where the parts take turns, each turn holds a share of every part."""
    first, shares = 0, {}
    for name, rows in part.rows:
        shares[name] = (first, rows // part.groups)
        first += rows // part.groups
    start, rows = shares[part.name]
    if part.groups == 1:
        return array[start : start + rows]
    turns = array.reshape(part.groups, first, *array.shape[1:])
    return turns[:, start : start + rows].reshape(part.groups * rows, *array.shape[1:])


def joined(pieces: Mapping[str, ndarray], order: tuple[str, ...], groups: int) -> ndarray:
    """The parts in one array, the opposite of `cut`."""
    import numpy as np

    turns = [pieces[name].reshape(groups, pieces[name].shape[0] // groups, *pieces[name].shape[1:]) for name in order]
    array = np.concatenate(turns, axis=1)
    return array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])


def widened(array: ndarray, dtype: str) -> ndarray:
    """Sixteen-bit numbers as float32, which holds each of them exactly."""
    import numpy as np

    if dtype == "BF16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32) if dtype == "F16" else array


def narrowed(array: ndarray, dtype: str) -> ndarray:
    """float32 numbers as `dtype`, rounded to the nearest, halves to even. Finite numbers only."""
    import numpy as np

    if dtype != "BF16":
        return array.astype(NUMPY[dtype])
    bits = array.astype("<f4").view("<u4")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.dtype("<u2"))
