"""What a component may know besides its own input: the caller's tensors, which tokens are real, and the layer it stands in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from specc.ir.model import Layer, Stack
from specc.ir.node import Component
from tests.oracle.formulas import formula
from tests.oracle.weights import Weights


@dataclass(frozen=True)
class Row:
    """What a mask may know of one row: the column of its first real token, and the caller's tensors for it."""

    start: int
    inputs: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Held:
    """What a position scheme reads: the attention that it serves with its weights, its own ones in there, and those that layers share."""

    attention: Component
    beside: Weights
    own: Weights
    shared: Weights | None
    grid: tuple[int, int] | None = None  # rows and columns of an image's patches


@dataclass(frozen=True)
class Frame:
    """valid [B, T] tells real tokens from padding; position [B, T]."""

    stack: Stack
    inputs: Mapping[str, np.ndarray]
    valid: np.ndarray
    position: np.ndarray
    token_table: np.ndarray | None
    layer: Layer | None = None
    schemes: Weights | None = None  # where position schemes hold what layers share
    number: int = 0  # of the layer
    made: dict[int, tuple] = field(default_factory=dict)  # by layer, the keys and values that it made

    def keys_and_values(self, make) -> tuple:
        """Those that `make` gives, or, in a layer that has none of its own, those of the last earlier layer of the named kind."""
        if self.layer is None or self.layer.kv_from is None:
            self.made[self.number] = make()
            return self.made[self.number]
        return self.made[max(n for n in range(self.number) if self.stack.layers[n].label == self.layer.kv_from)]

    def visible(self, b: int, query: int, key: int) -> bool:
        """Whether a query may see a key: padding never, and the layer's mask goes by columns."""
        mask = self.layer.mask
        return bool(self.valid[b, key]) and formula(mask).visible(mask, query, key, self.row(b))

    def row(self, b: int) -> Row:
        real = np.flatnonzero(self.valid[b])
        start = int(real[0]) if len(real) else len(self.valid[b])
        return Row(start, {name: values[b] for name, values in self.inputs.items() if len(values) == len(self.valid)})

    def rotate(self, x: np.ndarray, b: int, t: int) -> np.ndarray:
        """One head's query or key as the layer's position scheme turns it."""
        scheme = formula(self.layer.position)
        length = int(self.position.max()) + 1
        if hasattr(scheme, "turned"):
            key = next(key for (position, _, width), key in self.stack.schemes.items() if position == self.layer.position and width == len(x))
            return scheme.turned(x, self.schemes.under(key)["weight"], self.layer.position, int(self.position[b, t]))
        if getattr(self.layer.position, "sections", None):
            return scheme.rotate_by_axes(self.layer.position, x, self.inputs["mrope_position_ids"][:, b, t])
        return scheme.rotate(self.layer.position, x, int(self.position[b, t]), length) if hasattr(scheme, "rotate") else x

    def temperature(self, attention, b: int, t: int) -> float:
        """What a query is multiplied by."""
        found = attention.temperature
        return 1.0 if found is None else formula(found).factor(found, int(self.position[b, t]), t)

    def score_factor(self) -> float:
        """What latent attention multiplies its scale by because of the layer's position scheme."""
        scheme = formula(self.layer.position)
        return scheme.score_factor(self.layer.position) if hasattr(scheme, "score_factor") else 1.0

    def bias(self, head: int, attention: Component, w: Weights, b: int, pair: tuple[int, int], vectors: tuple[np.ndarray, np.ndarray]) -> float:
        """What the layer's position scheme adds to a score. pair: the columns of query and key; w: the attention's weights."""
        c, (query, key) = self.layer.position, pair
        scheme, found = formula(c), 0.0
        if hasattr(scheme, "bias"):
            found += scheme.bias(c, head, attention.heads, int(self.position[b, query]), int(self.position[b, key]))
        if hasattr(scheme, "score"):
            shared = self.stack.schemes.get((c, attention.heads, attention.head_dim))
            held = Held(attention, w, w.under("position"), self.schemes.under(shared) if shared else None, self._grid())
            more = (self.inputs["token_type_ids"][b],) if c.inputs() else ()
            found += scheme.score(c, held, head, query, key, vectors, *more)
        return found

    def _grid(self) -> tuple[int, int] | None:
        if (image := self.stack.dims.image) is None:
            return None
        height, width = self.inputs["pixel_values"].shape[2:]
        return height // image.patch[0], width // image.patch[1]


def positions(stack: Stack, valid: np.ndarray) -> np.ndarray:
    """[B, T]: in a causal stack the real tokens before each one are counted, else its column is taken."""
    batch, length = valid.shape
    position = np.zeros((batch, length), np.int64)
    for b in range(batch):
        real = 0
        for t in range(length):
            real += int(valid[b, t])
            position[b, t] = max(real - 1, 0) if stack.causal else t
    return position
