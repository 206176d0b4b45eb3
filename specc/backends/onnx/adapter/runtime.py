"""An adapter's tensors as ONNX Runtime takes them: a .onnx_adapter file, loaded without opening the graph again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from specc.ir.adapter import Adapter
from specc.weights.adapter.held import of_site
from specc.weights.arrays import load
from specc.weights.stored import Stored

if TYPE_CHECKING:
    from numpy import ndarray


def given(adapter: Adapter, tensors: Mapping[str, ndarray], stored: Mapping[str, Stored]) -> dict[str, ndarray]:
    """The value of every input that a graph has for this adapter, in float32."""
    found: dict[str, ndarray] = {}
    tensors = adapter.settled(dict(tensors))
    for method, site in adapter.sites():

        def weight(number: int, site=site) -> ndarray:
            return load(stored[f"{site.slots[number].key}.weight"], widen=True)

        def bias(number: int, site=site) -> ndarray:
            return load(stored[f"{site.slots[number].key}.bias"], widen=True)

        values = method.given(site, of_site(dict(tensors), site.key, method.kind), weight, bias)
        found |= {f"{site.key}.{method.kind}.{name}": array.astype("float32") for name, array in values.items()}
    return found


def write(path: Path, values: Mapping[str, ndarray], compute: str) -> None:
    """The file, by ONNX Runtime's own writer."""
    import numpy as np
    import onnxruntime

    kinds = {"float32": 1, "float16": 10, "bfloat16": 16}
    made = {}
    for name, array in values.items():
        if compute == "bfloat16":
            from specc.weights.arrays import narrowed

            bits = np.ascontiguousarray(narrowed(array, "BF16"))
            made[name] = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, kinds[compute])
        else:
            made[name] = onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array.astype(compute)))
    file = onnxruntime.AdapterFormat()
    file.set_adapter_version(1)
    file.set_model_version(1)
    file.set_parameters(made)
    file.export_adapter(str(path))
