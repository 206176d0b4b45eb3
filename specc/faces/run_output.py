"""How `specc run` prints: text as it comes, values for people to look at, or everything as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from specc.tools.runtime.encode import classify, fill
from specc.tools.runtime.generate import Continuation
from specc.tools.runtime.session import Graph
from specc.tools.runtime.tokens import Stream, Text, Tokens

if TYPE_CHECKING:
    from numpy import ndarray

VALUES = 6


class Printer:
    """What is generated: streamed where one prompt goes to a terminal, else printed when it is complete."""

    def __init__(self, format: str, rows: list[list[int]], prompts: list[str] | None, tokens: Tokens | None, streams_prompt: bool = True) -> None:
        """streams_prompt: whether what is generated goes on with the prompt, so that its first token may complete a character."""
        self.format, self.rows, self.prompts = format, rows, prompts
        self.streams = [Stream(tokens, row if streams_prompt else []) for row in rows] if tokens is not None else []
        self.pieces: list[list[str]] = [[] for _ in rows]
        self.live = bool(self.streams) and format == "text" and len(rows) == 1 and sys.stdout.isatty()

    def token(self, row: int, token: int) -> None:
        if self.streams:
            self._piece(row, self.streams[row].step(token))

    def _piece(self, row: int, piece: str) -> None:
        self.pieces[row].append(piece)
        if self.live:
            print(piece, end="", flush=True)

    def finish(self, found: list[Continuation]) -> None:
        for row, stream in enumerate(self.streams):
            self._piece(row, stream.rest())
        if self.live:
            print()
        elif self.format == "json":
            print(json.dumps([self._record(row, continuation) for row, continuation in enumerate(found)], ensure_ascii=False))
        else:
            for row, continuation in enumerate(found):
                if self.prompts is not None and len(found) > 1:
                    print(f"== {row + 1}: {self.prompts[row]}")
                print("".join(self.pieces[row]) if self.streams else ",".join(map(str, continuation.ids)))

    def _record(self, row: int, found: Continuation) -> dict[str, Any]:
        text = {"prompt": self.prompts[row], "text": "".join(self.pieces[row])} if self.prompts is not None else {}
        return text | {"ids": self.rows[row], "new_ids": found.ids, "stop": found.stop}


def print_readings(
    graph: Graph, texts: list[Text], given: Sequence[str], found: list[dict[str, ndarray]], tokens: Tokens | None, format: str
) -> None:
    """What a model without generation says of each text."""
    readings = [_reading(graph, text, outputs, tokens) for text, outputs in zip(texts, found, strict=True)]
    if format == "json":
        print(
            json.dumps(
                [{"ids": text.ids} | record for text, (record, _) in zip(texts, readings, strict=True)], ensure_ascii=False
            )
        )
        return
    for number, (_, lines) in enumerate(readings):
        if len(readings) > 1:
            print(f"== {number + 1}: {given[number]}")
        print("\n".join(lines))


def _reading(graph: Graph, text: Text, outputs: dict[str, ndarray], tokens: Tokens | None) -> tuple[dict[str, Any], list[str]]:
    """-> the record for JSON, and the lines for people."""
    if graph.heads == ("classify",):
        (found,) = classify(graph, outputs["logits"][None])
        return {"label": found.label, "score": found.score, "scores": found.scores}, [f"{found.label}  {found.score:.4f}"]
    if graph.heads == ("classify_tokens",):
        labels = classify(graph, outputs["logits"])
        pairs = list(zip(text.tokens, labels, strict=True))
        wide = max(map(len, text.tokens))
        record = [{"token": token, "label": found.label, "score": found.score} for token, found in pairs]
        return {"tokens": record}, [f"{token:{wide}}  {found.label}  {found.score:.4f}" for token, found in pairs]
    if graph.heads == ("mlm",) and tokens is not None:
        return _fillings(text, outputs["logits"], tokens)
    lines = [f"{name} {list(array.shape)}: {first_values(array)}" for name, array in outputs.items()]
    return {name: array.tolist() for name, array in outputs.items()}, lines


def _fillings(text: Text, logits: ndarray, tokens: Tokens) -> tuple[dict[str, Any], list[str]]:
    found = fill(text, logits, tokens)
    record = [
        {"position": f.position, "fillings": [{"id": token, "token": word, "score": score} for token, word, score in f.tokens]}
        for f in found
    ]
    return {"masks": record}, [f"{f.position}: " + ", ".join(f"{word} {score:.4f}" for _, word, score in f.tokens) for f in found]


def first_values(array: ndarray) -> str:
    values = array.reshape(-1)
    return ", ".join(f"{value:.6f}" for value in values[:VALUES]) + (", ..." if values.size > VALUES else "")
