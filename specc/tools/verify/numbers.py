"""Weights for the proof: drawn by a seed, and none of them neutral."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from specc.ir.model import Model
from specc.weights.checkpoint import OWN
from specc.weights.write import write

if TYPE_CHECKING:
    from numpy import ndarray


# the ends of branches in models with two stacks: what they add is much alike for all tokens, and layer after layer makes one token of many
BRANCH_ENDS = re.compile(r"(encoder|decoder)\.layers\.\d+\.(.*\.)?(o|down)\.(weight|bias)")
SMALLER = 0.2


def drawn(model: Model, seed: int = 0) -> dict[str, ndarray]:
    """A value for every parameter. Norms lie away from one, biases away from zero: leaving one out must be seen."""
    import numpy as np

    found = {}
    for key, parameter in model.parameters().items():
        digest = hashlib.sha256(f"{seed}:{key}".encode()).digest()
        noise = np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little"))).standard_normal(parameter.shape, np.float32)
        plain = parameter.init == "normal"
        found[key] = noise * np.float32(2 / parameter.shape[-1] ** 0.5) if plain else np.float32(0.6) + np.float32(0.3) * noise
        if BRANCH_ENDS.fullmatch(key):
            found[key] *= np.float32(SMALLER)
    for key, factor in _calmed(model):
        found[key] *= np.float32(factor)
    return found


def _calmed(model: Model) -> Iterator[tuple[str, float]]:
    """Queries of attentions without a scale of their own (T5), which are trained small: large ones would let rounding choose a key."""
    for stack in model.stacks:
        for number, layer in enumerate(stack.stored):
            for part in layer.instances:
                scale, width = getattr(part.component, "scale", None), getattr(part.component, "head_dim", None)
                if scale and width and any(p.name == "q.weight" for p in part.parameters(stack.dims)) and scale > 2 * width**-0.5:
                    yield f"{stack.prefix}layers.{number}.{part.key}.q.weight", width**-0.5 / scale


def save(model: Model, numbers: dict[str, ndarray], folder: Path) -> Path:
    """The weights as weights.safetensors in specc's own layout."""
    entries = [(key, "F32", parameter.shape) for key, parameter in model.parameters().items()]
    return write(folder, OWN, entries, lambda key: [numbers[key].tobytes()])
