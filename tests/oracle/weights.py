"""The weights of one component: the whole model's, seen from the component's place in the state dict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Weights:
    """`w["q.weight"]` is the tensor under that name below `prefix`; `index` picks one row of every tensor."""

    tensors: Mapping[str, np.ndarray]
    prefix: str
    index: int | None = None

    def __getitem__(self, name: str) -> np.ndarray:
        found = self.tensors[self.prefix + name].astype(np.float64)
        return found if self.index is None else found[self.index]

    def __contains__(self, name: str) -> bool:
        return self.prefix + name in self.tensors

    def under(self, name: str) -> Weights:
        """What lies one level further down."""
        return Weights(self.tensors, f"{self.prefix}{name}.", self.index)

    def row(self, index: int) -> Weights:
        """The same names, of each tensor only the row `index`."""
        return Weights(self.tensors, self.prefix, index)


def linear(w: Weights, name: str, x: np.ndarray) -> np.ndarray:
    """y = W x (+ b) for one vector."""
    y = w[f"{name}.weight"] @ x
    return y + w[f"{name}.bias"] if f"{name}.bias" in w else y
