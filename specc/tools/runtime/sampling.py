"""The choice of the next token: greedy, or drawn after temperature, top-k and top-p."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specc.diagnostics.finding import fail

if TYPE_CHECKING:
    from numpy import ndarray
    from numpy.random import Generator


@dataclass(frozen=True, slots=True)
class Sampling:
    """temperature 0 is greedy. top_k keeps the k likeliest tokens; top_p then the likeliest that together reach p."""

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise fail("SYS022", f"a temperature is a number from 0 up, not {self.temperature}")
        if self.top_k is not None and self.top_k < 1:
            raise fail("SYS022", f"top-k is a whole number from 1 up, not {self.top_k}")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise fail("SYS022", f"top-p lies above 0 and up to 1, not {self.top_p}")
        if self.seed < 0:
            raise fail("SYS022", f"a seed is a whole number from 0 up, not {self.seed}")

    def generators(self, rows: int) -> list[Generator]:
        """One generator per row, so that a row draws the same tokens whatever stands beside it."""
        import numpy as np

        return [np.random.default_rng([self.seed, row]) for row in range(rows)]


def probabilities(logits: ndarray, sampling: Sampling) -> ndarray:
    """logits [V] -> the distribution [V] in float64 that the next token is drawn from. Of equals the lower id comes first."""
    import numpy as np

    scores = logits.astype(np.float64)
    order = np.argsort(-scores, kind="stable")
    if sampling.temperature == 0:
        order, scores = order[:1], np.zeros_like(scores)
    else:
        scores = (scores - scores[order[0]]) / sampling.temperature
    chances = np.exp(scores[order[: sampling.top_k]])
    chances /= chances.sum()
    if sampling.top_p is not None:
        before = np.cumsum(chances) - chances
        chances = chances[before < sampling.top_p]  # the likeliest token is always kept
        chances /= chances.sum()
    found = np.zeros(len(logits))
    found[order[: len(chances)]] = chances
    return found


def pick(logits: ndarray, sampling: Sampling, generator: Generator) -> int:
    """logits [V] -> a token id."""
    import numpy as np

    if sampling.temperature == 0:
        return int(np.argmax(logits))
    edges = np.cumsum(probabilities(logits, sampling))
    return int(np.searchsorted(edges, generator.random() * edges[-1], side="right"))
