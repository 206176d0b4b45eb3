"""Weights for the proof: drawn by a seed, and none of them neutral."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from specc.ir.model import Model
from specc.weights.checkpoint import OWN
from specc.weights.write import write

if TYPE_CHECKING:
    from numpy import ndarray


def drawn(model: Model, seed: int = 0) -> dict[str, ndarray]:
    """A value for every parameter. Norms lie away from one, biases away from zero: leaving one out must be seen."""
    import numpy as np

    found = {}
    for key, parameter in model.parameters().items():
        digest = hashlib.sha256(f"{seed}:{key}".encode()).digest()
        noise = np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little"))).standard_normal(parameter.shape, np.float32)
        plain = parameter.init == "normal"
        found[key] = noise * np.float32(2 / parameter.shape[-1] ** 0.5) if plain else np.float32(0.6) + np.float32(0.3) * noise
    return found


def save(model: Model, numbers: dict[str, ndarray], folder: Path) -> Path:
    """The weights as weights.safetensors in specc's own layout."""
    entries = [(key, "F32", parameter.shape) for key, parameter in model.parameters().items()]
    return write(folder, OWN, entries, lambda key: [numbers[key].tobytes()])
