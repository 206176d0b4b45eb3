"""Small safetensors files written by hand, and models that are no more than a list of parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from specc.diagnostics.finding import Report, SpecError
from specc.ir.model import Model, Training
from specc.ir.node import Parameter
from specc.ir.weights import Fused, Source, Tensor, Transpose, WeightMap, WeightRule
from specc.resolve.model import resolve
from specc.resolve.program import load_source
from specc.source import Source as Text

DTYPES = {"float32": "F32", "float16": "F16", "float64": "F64", "uint16": "BF16", "int64": "I64", "int8": "I8", "uint8": "U8"}


@dataclass(frozen=True)
class Listed:
    """What `specc.weights` asks of a model: a name, parameters, weights maps."""

    shapes: Mapping[str, tuple[int, ...]]
    weights: tuple[WeightMap, ...] = ()
    optional: tuple[str, ...] = ()
    name: str = "m"
    training: Training = Training()

    def parameters(self) -> dict[str, Parameter]:
        role = {key: "optional" if key in self.optional else "learned" for key in self.shapes}
        return {key: Parameter(key.rsplit(".", 1)[-1], shape, "normal", role[key]) for key, shape in self.shapes.items()}


def weight_map(
    given: Mapping[str, Source | str], root: tuple[str, ...] = ("",), ignore: tuple[str, ...] = (), name: str = "hf"
) -> WeightMap:
    made = (WeightRule(own=own, source=tensor(s) if isinstance(s, str) else s) for own, s in given.items())
    return WeightMap(name=name, root=root, ignore=ignore, rules=tuple(made))


def tensor(*names: str) -> Tensor:
    return Tensor(names=names)


def transpose(*names: str) -> Transpose:
    return Transpose(of=tensor(*names))


def fused(source: Source | str, order: str, groups: int = 1) -> Fused:
    return Fused(of=tensor(source) if isinstance(source, str) else source, order=tuple(order.split()), groups=groups)


def model_of(text: str) -> Model:
    program = load_source(Text("m.specc", text), Path("m.specc"))
    return resolve(program.models["m"], program, Report()).model


def numbers(*shape: int, seed: int = 0, dtype: str = "float32") -> np.ndarray:
    """Numbers that differ, so that no mixed-up row goes unseen."""
    draw = np.random.default_rng([seed, *shape])
    return draw.integers(0, 2**16, shape, np.uint16) if dtype == "uint16" else draw.standard_normal(shape).astype(dtype)


def raw(path: Path, header: object, data: bytes = b"", length: int | None = None) -> Path:
    """A file with this header, as JSON or as the bytes given; `length` is the length that it claims."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return path


def save(path: Path, arrays: Mapping[str, np.ndarray], **types: str) -> Path:
    """A well-formed file; the dtype follows from the array's, except for the names in `types`."""
    header, at = {}, 0
    for name, array in arrays.items():
        dtype = types.get(name, DTYPES[array.dtype.name])
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    path.parent.mkdir(parents=True, exist_ok=True)
    return raw(path, header, b"".join(array.tobytes() for array in arrays.values()))


def checkpoint(folder: Path, arrays: Mapping[str, np.ndarray], **types: str) -> Path:
    save(folder / "model.safetensors", arrays, **types)
    return folder


def refused(code: str, *words: str):
    """A context that expects exactly one finding, with this code and these words in its message."""
    return _Refused([code], words)


def refused_all(*codes: str):
    return _Refused(list(codes), ())


class _Refused:
    def __init__(self, codes: list[str], words: tuple[str, ...]) -> None:
        self.codes, self.words, self.raises = codes, words, pytest.raises(SpecError)

    def __enter__(self) -> pytest.ExceptionInfo[SpecError]:
        self.found = self.raises.__enter__()
        return self.found

    def __exit__(self, *error: object) -> bool:
        suppressed = bool(self.raises.__exit__(*error))
        if suppressed:
            assert [d.code for d in self.found.value.diagnostics] == self.codes, str(self.found.value)
            for word in self.words:
                assert word in str(self.found.value), f"{word!r} not in {self.found.value}"
        return suppressed
