"""specc's own layout: one file, the state dict's own names, offsets that follow from the spec alone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import prod
from pathlib import Path

from specc.ir.model import Model
from specc.weights.checkpoint import OWN
from specc.weights.safetensors import BITS, TensorInfo

Entry = tuple[str, str, tuple[int, ...]]  # name, dtype, shape


def own_layout(model: Model, dtype: str = "F32") -> tuple[bytes, dict[str, TensorInfo]]:
    """How weights.safetensors begins (length and header) and where each tensor lies in it."""
    return layout(((key, dtype, parameter.shape) for key, parameter in model.parameters().items()), Path(OWN))


def layout(entries: Iterable[Entry], file: Path) -> tuple[bytes, dict[str, TensorInfo]]:
    """A file's beginning and tensors. Wide types come first so that all stay aligned, and then names are sorted."""
    ordered = sorted(entries, key=lambda entry: (-BITS[entry[1]], entry[0]))
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}  # transformers refuses a file without it
    at, lengths = 0, {}
    for name, dtype, shape in ordered:
        lengths[name] = prod(shape) * BITS[dtype] // 8
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + lengths[name]]}
        at += lengths[name]
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    infos, at = {}, 8 + len(text)
    for name, dtype, shape in ordered:
        infos[name] = TensorInfo(name, file, dtype, tuple(shape), at, lengths[name])
        at += lengths[name]
    return len(text).to_bytes(8, "little") + text, infos
