"""Rows of token ids to the arrays that a graph takes, and what is refused before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specc.diagnostics.finding import fail
from specc.tools.runtime.session import Graph

if TYPE_CHECKING:
    from numpy import ndarray

PLAIN = {"input_ids", "attention_mask", "position_ids", "mrope_position_ids", "token_type_ids"}


def parse_ids(text: str) -> list[int]:
    """`1,2,3` -> its numbers."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise fail(
            "SYS022", f"`{text[:60]}` is no list of token ids", None, "write whole numbers with commas between: --ids 1,2,3"
        ) from None


def check_ids(graph: Graph, rows: Sequence[Sequence[int]]) -> None:
    """Every row has tokens, all of them in the vocabulary, and no more than the model reads."""
    for row in rows:
        if not row:
            raise fail("SYS022", "an input is empty; the model needs at least one token")
        for token in row:
            if token < 0 or (graph.vocab is not None and token >= graph.vocab):
                raise fail(
                    "SYS022",
                    f"token id {token} is outside the vocabulary of {graph.vocab}",
                    None,
                    f"ids go from 0 to {(graph.vocab or 0) - 1}",
                )
        if graph.context is not None and len(row) > graph.context:
            raise fail("SYS022", f"an input has {len(row)} tokens, and the model reads {graph.context}", None, "shorten it")


def check_inputs(graph: Graph) -> None:
    """Every input of the graph is one that can be filled here."""
    other = [name for name in graph.inputs if name not in PLAIN and not name.startswith("past_key_values.")]
    if other:
        raise fail("SYS022", f"the graph takes {', '.join(other)}, which `specc run` does not give")


def counted(mask: ndarray, new: int) -> dict[str, ndarray]:
    """mask [B, S] -> the positions of the last `new` tokens, which count real ones; text has the same on every axis of an image."""
    import numpy as np

    positions = np.maximum(mask.cumsum(1) - 1, 0)[:, -new:]
    return {"position_ids": positions, "mrope_position_ids": np.stack([positions] * 3)}


def left_padded(rows: Sequence[Sequence[int]]) -> tuple[ndarray, ndarray]:
    """-> ids and mask, [B, longest]: generation goes on at the right end of every row."""
    return _padded(rows, left=True)


def right_padded(rows: Sequence[Sequence[int]]) -> tuple[ndarray, ndarray]:
    return _padded(rows, left=False)


def _padded(rows: Sequence[Sequence[int]], left: bool) -> tuple[ndarray, ndarray]:
    import numpy as np

    width = max(map(len, rows))
    ids, mask = np.zeros((len(rows), width), np.int64), np.zeros((len(rows), width), np.int64)
    for number, row in enumerate(rows):
        place = slice(width - len(row), width) if left else slice(0, len(row))
        ids[number, place], mask[number, place] = row, 1
    return ids, mask
