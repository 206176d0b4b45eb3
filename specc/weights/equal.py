"""Whether two stored tensors are the same bit for bit, read piece by piece so that their size does not matter."""

from __future__ import annotations

from specc.weights.safetensors import TensorInfo

CHUNK = 1 << 20


def same_bytes(one: TensorInfo, other: TensorInfo) -> bool:
    """Same type, same shape, same bytes."""
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    if (one.file, one.offset) == (other.file, other.offset):
        return True
    with one.file.open("rb") as first, other.file.open("rb") as second:
        first.seek(one.offset)
        second.seek(other.offset)
        left = one.length
        while left:
            size = min(CHUNK, left)
            a, b = first.read(size), second.read(size)
            if len(a) != size or a != b:  # a short read: the file shrank since its header was read
                return False
            left -= size
    return True
