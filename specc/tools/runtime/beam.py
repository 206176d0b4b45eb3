"""Beam search (Graves, 2012, https://arxiv.org/abs/1211.3711), with the scores, the length penalty and the ends of transformers' `generate`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from specc.tools.runtime.rules import Rules, log_softmax

if TYPE_CHECKING:
    from numpy import ndarray

LOWEST = -1.0e9  # of what is no candidate
Step = Callable[["ndarray", "ndarray"], "ndarray"]  # the next token of every beam, and the beam that it goes on with -> logits


@dataclass(frozen=True, slots=True)
class Beams:
    """How many beams a row has. A finished one scores its log-probability over its length to the power of `length_penalty`.

    early_stopping: true ends a row with as many finished beams as it has; false when the best open one, at its length, cannot
    better the worst of them; never also weighs how long it may become.
    """

    count: int = 1
    length_penalty: float = 1.0
    early_stopping: bool | Literal["never"] = False


@dataclass(slots=True)
class _Row:
    """The search for one prompt: open beams, best first, and the best finished ones."""

    open: list[list[int]]
    scores: ndarray
    finished: list[list[int]]
    final: ndarray
    done: list[bool]
    hopeful: bool = True  # whether an open beam may still better a finished one
    parents: list[int] = field(default_factory=list)


def search(step: Step, prompts: list[list[int]], logits: ndarray, beams: Beams, rules: Rules, longest: int) -> list[list[int]]:
    """The best row of tokens for each prompt, the prompt included. All prompts are equally long.

    logits [B, V] after the prompts; `longest` is how many tokens a row may have.
    """
    import numpy as np

    count, prompt = beams.count, len(prompts[0])
    rows = [_row(tokens, count) for tokens in prompts]
    logits = np.repeat(logits, count, axis=0)  # [B * count, V]
    while True:
        written = [tokens for row in rows for tokens in row.open]
        scores = rules.apply(log_softmax(logits), written, prompt, longest)
        ended = [_advance(row, scores[n * count : (n + 1) * count], beams, rules, prompt, longest) for n, row in enumerate(rows)]
        full = beams.early_stopping is True and all(all(row.done) for row in rows)
        if full or all(ended) or not any(row.hopeful for row in rows):
            return [row.finished[0] for row in rows]
        tokens = np.array([[tokens[-1]] for row in rows for tokens in row.open], np.int64)
        parents = np.array([n * count + parent for n, row in enumerate(rows) for parent in row.parents], np.int64)
        logits = step(tokens, parents)


def _row(tokens: list[int], count: int) -> _Row:
    """At first all beams are alike, and only one of them counts."""
    import numpy as np

    scores = np.full(count, LOWEST, np.float32)
    scores[0] = 0
    return _Row([list(tokens)] * count, scores, [list(tokens)] * count, np.full(count, LOWEST, np.float32), [False] * count)


def _advance(row: _Row, scores: ndarray, beams: Beams, rules: Rules, prompt: int, longest: int) -> bool:
    """One token further: scores [count, V] of what may follow the open beams -> whether no candidate can be gone on with."""
    import numpy as np

    count, length = beams.count, len(row.open[0])
    whole = (scores + row.scores[:, None]).reshape(-1)
    best = _largest(whole, max(2, 1 + len(rules.ends)) * count)
    found, vocab = whole[best], scores.shape[1]
    candidates = [[*row.open[place // vocab], int(place % vocab)] for place in best]
    ends = np.array([tokens[-1] in rules.ends or length + 1 >= longest for tokens in candidates])
    _finish(row, candidates, found, ends, beams, length + 1 - prompt)
    kept = found + ends.astype(np.float32) * np.float32(LOWEST)
    chosen = _largest(kept, count)
    row.parents = [int(best[n] // vocab) for n in chosen]
    row.open, row.scores = [candidates[n] for n in chosen], kept[chosen]
    hoped = longest - prompt if beams.early_stopping == "never" and beams.length_penalty > 0 else length + 1 - prompt
    possible, worst = row.scores[0] / np.float32(hoped**beams.length_penalty), row.final.min()
    row.hopeful &= any(possible > (worst if done else np.float32(LOWEST)) for done in row.done)
    return bool(ends.all())


def _finish(row: _Row, candidates: list[list[int]], found: ndarray, ends: ndarray, beams: Beams, length: int) -> None:
    """Takes up candidates among the best that have ended, where they better those that had before."""
    import numpy as np

    count, lowest = beams.count, np.float32(LOWEST)
    ended = ends & (np.arange(len(ends)) < count)
    final = found / np.float32(length**beams.length_penalty)
    if beams.early_stopping is True and all(row.done):
        final = final + lowest
    if not row.hopeful:
        final = final + lowest
    final = final + np.where(ended, np.float32(0), lowest)
    merged, rows, done = np.concatenate([row.final, final]), row.finished + candidates, row.done + ended.tolist()
    best = _largest(merged, count)
    row.final, row.finished, row.done = merged[best], [rows[n] for n in best], [done[n] for n in best]


def _largest(values: ndarray, count: int) -> ndarray:
    """The places of the largest values, best first; of equals the first."""
    import numpy as np

    if len(values) > 8 * count:
        near = np.flatnonzero(values >= np.partition(values, -count)[-count])
        return near[np.argsort(-values[near], kind="stable")[:count]]
    return np.argsort(-values, kind="stable")[:count]
