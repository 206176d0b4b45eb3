"""Reads the tensors of an adapter, by its own names, from its own file or from a published folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from specc.diagnostics.finding import fail
from specc.ir.adapter import Adapter
from specc.weights.arrays import load
from specc.weights.safetensors import TensorInfo, read_header
from specc.weights.stored import Stored
from specc.weights.wording import listed, sizes
from specc.weights.write import write

if TYPE_CHECKING:
    from numpy import ndarray

OWN = "adapter.safetensors"
FLOATS = ("F32", "F16", "BF16", "F64")


def open_adapter(folder: Path, adapter: Adapter) -> dict[str, ndarray]:
    """Every tensor of the adapter in float32. Raises SpecError where the folder does not hold just these."""
    from specc.weights.adapter.published import FILE, read_published, to_own

    if (folder / OWN).is_file():
        return checked({name: array_of(info) for name, info in read_header(folder / OWN).items()}, adapter, OWN)
    if (folder / FILE).is_file():
        return checked(to_own(adapter, read_published(folder)), adapter, FILE)
    help = "the generated adapter's `save` writes the first"
    raise fail("ADP008", f"{folder} holds neither {OWN} nor {FILE}", help=help)


def array_of(info: TensorInfo) -> ndarray:
    """A tensor of a file, in float32."""
    if info.dtype not in FLOATS:
        raise fail("ADP008", f"the tensor `{info.name}` is of type {info.dtype}, which is no floating-point number")
    return load(Stored(info), widen=True).astype("float32")


def checked(tensors: dict[str, ndarray], adapter: Adapter, file: str) -> dict[str, ndarray]:
    """The tensors, if they are those of the adapter."""
    expected = adapter.parameters()
    if missing := [f"`{name}`" for name in expected if name not in tensors]:
        raise fail("ADP008", f"{file} lacks {listed(missing)}", help="use the file of this very adapter")
    if unknown := [f"`{name}`" for name in tensors if name not in expected]:
        raise fail("ADP008", f"the adapter `{adapter.name}` has no place for {listed(unknown)} of {file}")
    wrong = [f"`{n}` (here {sizes(p.shape)}, there {sizes(tensors[n].shape)})" for n, p in expected.items() if tuple(tensors[n].shape) != p.shape]
    if wrong:
        raise fail("ADP008", f"{file} holds tensors of another shape: {listed(wrong)}")
    return {name: tensors[name] for name in expected}


def of_site(tensors: dict[str, ndarray], key: str, kind: str) -> dict[str, ndarray]:
    """What a method holds at one place, by the method's own names."""
    start = f"{key}.{kind}."
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}


def to_own(tensors: dict[str, ndarray], out: Path) -> Path:
    """Writes adapter.safetensors, in float32."""
    import numpy as np

    entries = [(name, "F32", array.shape) for name, array in tensors.items()]
    return write(out, OWN, entries, lambda name: [np.ascontiguousarray(tensors[name], "<f4").tobytes()])
