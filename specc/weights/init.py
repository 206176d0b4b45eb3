"""Writes new weights in specc's own layout: random ones, the same for the same seed, or zeros."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from specc.diagnostics.finding import fail
from specc.ir.model import Model
from specc.ir.node import Parameter
from specc.weights.checkpoint import OWN
from specc.weights.write import Progress, write

CHUNK = 1 << 20  # numbers drawn at a time
DEVIATION = 0.02
DTYPES = ("F32", "F16", "BF16")


def init(
    model: Model,
    out: Path,
    how: Literal["random", "zeros"] = "random",
    seed: int = 0,
    dtype: str = "F32",
    progress: Progress | None = None,
) -> Path:
    """weights.safetensors in the folder `out`. Random: normal, and ones, zeros and known values where a part asks so.

    The deviation is that of the model's `init`, 0.02 where it states none.
    """
    if dtype not in DTYPES:
        raise fail("WGT019", f"specc does not write weights of type {dtype}", help=f"ask for one of {', '.join(DTYPES)}")
    parameters = model.parameters()
    deviation = DEVIATION if model.training.init is None else model.training.init.deviation
    entries = [(key, dtype, parameter.shape) for key, parameter in parameters.items()]
    return write(out, OWN, entries, lambda key: _numbers(key, parameters[key], how, seed, dtype, deviation), progress)


def _numbers(key: str, parameter: Parameter, how: str, seed: int, dtype: str, deviation: float) -> Iterator[bytes]:
    """Each tensor has a generator of its own, so that its numbers do not depend on the rest of the model."""
    import numpy as np

    from specc.weights.arrays import narrowed

    draw = np.random.Generator(np.random.PCG64(int.from_bytes(hashlib.sha256(f"{seed}:{key}".encode()).digest(), "little")))
    if parameter.fill is not None and how == "random":
        yield narrowed(parameter.fill().reshape(-1), dtype).tobytes()
        return
    left = parameter.size
    while left > 0:
        size = min(CHUNK, left)
        if how == "zeros" or parameter.init == "zeros":
            numbers = np.zeros(size, np.float32)
        elif parameter.init == "ones":
            numbers = np.ones(size, np.float32)
        else:
            numbers = draw.standard_normal(size, np.float32) * np.float32(deviation)
        yield narrowed(numbers, dtype).tobytes()
        left -= size
