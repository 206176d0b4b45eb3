"""Reads the header of a safetensors file: each tensor's type, shape and place. The file is not trusted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from specc.diagnostics.finding import SpecError, fail

MAX_HEADER = 100_000_000  # the limit that the format itself sets
MAX_NAME = 1000
MAX_RANK = 64
BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "U16": 16, "I16": 16, "U32": 32, "I32": 32, "U64": 64, "I64": 64,
    "F16": 16, "BF16": 16, "F32": 32, "F64": 64, "C64": 64,
    "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "F6_E2M3": 6, "F6_E3M2": 6, "F4": 4,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """A tensor of a file. `offset` counts from the beginning of the file; `file` has its symbolic links resolved."""

    name: str
    file: Path
    dtype: str
    shape: tuple[int, ...]
    offset: int
    length: int


def read_header(path: Path) -> dict[str, TensorInfo]:
    """Every tensor of the file, in the order of the data."""
    if not path.is_file():  # a pipe or a device would block or never end
        raise _bad(path, "it is not a file")
    real, size = path.resolve(), path.stat().st_size
    with real.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8:
            raise _bad(path, f"it has {size} bytes; a safetensors file begins with the 8 bytes of its header's length")
        if length > MAX_HEADER:
            raise _bad(path, f"its header would have {length} bytes; at most {MAX_HEADER} are allowed")
        if length > size - 8:
            raise _bad(path, f"its header would have {length} bytes, and only {size - 8} follow; the file is cut short")
        text = file.read(length)
    begin, found = 8 + length, {}
    for name, entry in parse_json(text, path).items():
        if name == "__metadata__":
            if not isinstance(entry, dict) or not all(isinstance(v, str) for v in entry.values()):
                raise _bad(path, "`__metadata__` is not an object of strings")
        else:
            found[name] = _tensor(name, entry, path, real, begin)
    ordered = sorted(found.values(), key=lambda t: (t.offset, t.length))
    for tensor in ordered:
        if tensor.offset != begin:
            what = "overlaps the tensor before it" if tensor.offset < begin else "leaves a hole before it"
            raise _bad(path, f"tensor `{tensor.name}` {what}; tensors follow one another without gap")
        begin += tensor.length
        if begin > size:
            raise _bad(path, f"tensor `{tensor.name}` ends at byte {begin}, and the file at byte {size}; it is cut short")
    if begin != size:
        raise _bad(path, f"its tensors end at byte {begin}, and the file at byte {size}; nothing may follow the tensors")
    return {tensor.name: tensor for tensor in ordered}


def _tensor(name: str, entry: Any, path: Path, real: Path, begin: int) -> TensorInfo:
    if len(name) > MAX_NAME or not name.isprintable():
        raise _bad(path, f"a tensor's name is too long or holds characters that cannot be printed: {ascii(name[:60])}")
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise _bad(path, f"the entry of tensor `{name}` does not have exactly dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in BITS:
        raise _bad(path, f"tensor `{name}` has an unknown dtype {ascii(dtype)[:40]}")
    if not _naturals(shape) or len(shape) > MAX_RANK:
        raise _bad(path, f"the shape of tensor `{name}` is not a list of at most {MAX_RANK} whole numbers from 0 up")
    if not _naturals(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise _bad(path, f"the data_offsets of tensor `{name}` are not two whole numbers from 0 up, the smaller one first")
    bits, length = prod(shape) * BITS[dtype], offsets[1] - offsets[0]
    if bits != length * 8:
        raise _bad(path, f"tensor `{name}` has {length} bytes; {dtype} {list(shape)} needs {-(-bits // 8)}")
    return TensorInfo(name, real, dtype, tuple(shape), begin + offsets[0], length)


def _naturals(value: Any) -> bool:
    return isinstance(value, list) and all(type(v) is int and 0 <= v < 2**63 for v in value)


def parse_json(text: bytes, path: Path, code: str = "WGT004") -> dict[str, Any]:
    """An object of JSON in which no name stands twice: of two entries, readers would disagree on which one counts."""
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        problem = "it nests too deep" if isinstance(error, RecursionError) else str(error)[:200]
        raise _bad(path, f"its JSON cannot be read: {problem}", code) from None
    if not isinstance(value, dict):
        raise _bad(path, "its JSON is not an object", code)
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name {ascii(name)[:80]} stands twice")
        found[name] = value
    return found


def _bad(path: Path, problem: str, code: str = "WGT004") -> SpecError:
    return fail(code, f"{path.name} cannot be used: {problem}", help="download or write the file again")
