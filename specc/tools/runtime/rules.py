"""What a published generation config forbids or forces: rules over the scores of the next token, in the order in which they apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import ndarray

NEVER = float("-inf")


@dataclass(frozen=True, slots=True)
class Rules:
    """Lengths count a whole row: the prompt of a causal model, or the start tokens of a decoder, and what was written after them.

    repetition_penalty divides the positive scores of tokens that stand in the row, and multiplies the negative ones.
    no_repeat_ngram n: no n tokens stand in a row twice. bad_words: runs of tokens that are never completed. ends: the end
    tokens, which wait for min_length, and for min_new tokens. forced_bos and forced_eos stand alone where they belong.
    begin_suppressed may not come first. renormalize makes scores log-probabilities again.
    """

    ends: tuple[int, ...] = ()
    repetition_penalty: float = 1.0
    no_repeat_ngram: int = 0
    bad_words: tuple[tuple[int, ...], ...] = ()
    min_length: int = 0
    min_new: int = 0
    forced_bos: int | None = None
    forced_eos: tuple[int, ...] = ()
    suppressed: tuple[int, ...] = ()
    begin_suppressed: tuple[int, ...] = ()
    renormalize: bool = False

    def apply(self, scores: ndarray, rows: Sequence[Sequence[int]], prompt: int, longest: int) -> ndarray:
        """scores [R, V] of what may follow each row -> the same under the rules. prompt: how long the rows were at first."""
        import numpy as np

        scores, length = scores.copy(), len(rows[0])
        for row, written in zip(scores, rows, strict=True):
            self._within(row, list(written))
        if length < self.min_length or length - prompt < self.min_new:
            scores[:, list(self.ends)] = NEVER
        if self.forced_bos is not None and length == 1:
            scores = _only(scores, (self.forced_bos,))
        if self.forced_eos and length == longest - 1:
            scores = _only(scores, self.forced_eos)
        scores[:, list(self.suppressed)] = NEVER
        first = prompt + (prompt == 1 and self.forced_bos is not None)
        if length == first:
            scores[:, list(self.begin_suppressed)] = NEVER
        if self.renormalize:
            scores = log_softmax(scores)
        return scores.astype(np.float32)

    def _within(self, row: ndarray, written: list[int]) -> None:
        """What depends on the tokens of a row."""
        import numpy as np

        if self.repetition_penalty != 1:
            seen = sorted(set(written))
            row[seen] = np.where(row[seen] < 0, row[seen] * np.float32(self.repetition_penalty), row[seen] / np.float32(self.repetition_penalty))
        if (n := self.no_repeat_ngram) and len(written) + 1 >= n:
            beginning = written[len(written) + 1 - n :]
            row[[written[at + n - 1] for at in range(len(written) - n + 1) if written[at : at + n - 1] == beginning]] = NEVER
        for word in self.bad_words:
            if len(word) - 1 <= len(written) and written[len(written) - len(word) + 1 :] == list(word[:-1]):
                row[word[-1]] = NEVER


def _only(scores: ndarray, tokens: tuple[int, ...]) -> ndarray:
    """One token is left, or a few alike."""
    import numpy as np

    forced = np.full_like(scores, NEVER)
    forced[:, list(tokens)] = 0
    return forced


def log_softmax(scores: ndarray) -> ndarray:
    """scores [R, V] -> log-probabilities"""
    import numpy as np

    moved = scores - scores.max(axis=-1, keepdims=True)
    return moved - np.log(np.exp(moved).sum(axis=-1, keepdims=True, dtype=np.float32))
