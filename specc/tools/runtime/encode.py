"""What encoders, classifiers and masked language models say of whole texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specc.diagnostics.finding import fail
from specc.tools.runtime.generate import described
from specc.tools.runtime.inputs import check_ids, check_inputs, counted, right_padded
from specc.tools.runtime.session import Graph
from specc.tools.runtime.settings import labels, problem_type
from specc.tools.runtime.tokens import Text, Tokens

if TYPE_CHECKING:
    from numpy import ndarray

FILLINGS = 5


def encode(graph: Graph, texts: Sequence[Text]) -> list[dict[str, ndarray]]:
    """Each text's outputs by name, padding cut off."""
    import numpy as np

    if graph.heads == ("lm",):
        raise fail("SYS022", f"this graph generates text: it is {described(graph)}", None, "give it --prompt or --ids")
    if "pixel_values" in graph.inputs:
        raise fail("SYS022", "this graph reads images", None, "give it --image")
    check_ids(graph, [text.ids for text in texts])
    check_inputs(graph)
    ids, mask = right_padded([text.ids for text in texts])
    segments, _ = right_padded([text.segments for text in texts])
    known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": segments} | counted(mask, ids.shape[1])
    feeds: dict[str, Any] = {n: known[n] if n in known else graph.empty(n, len(texts)) for n in graph.inputs}
    outputs = {name: extents for name, (_, extents) in graph.outputs.items()}
    wanted = [name for name in outputs if not name.startswith("present.")]
    found, _ = graph.run(feeds, wanted)
    found = {name: array.astype(np.float32, copy=False) for name, array in found.items()}
    return [
        {name: array[row, : len(text.ids)] if outputs[name][1] == "sequence" else array[row] for name, array in found.items()}
        for row, text in enumerate(texts)
    ]


@dataclass(frozen=True, slots=True)
class Label:
    """The likeliest class and every class's score: a probability, or the number itself in a regression."""

    label: str
    score: float
    scores: dict[str, float]


def classify(graph: Graph, logits: ndarray) -> list[Label]:
    """logits [N, classes] -> N labels."""
    import numpy as np

    classes = logits.shape[-1]
    names, problem = labels(graph.folder, classes), problem_type(graph.folder, classes)
    scores = logits.astype(np.float64)
    if problem == "single_label_classification":
        scores = softmax(scores)
    elif problem == "multi_label_classification":
        scores = 1 / (1 + np.exp(-scores))
    best = scores.argmax(-1)
    return [
        Label(names[b], float(row[b]), {name: float(score) for name, score in zip(names, row, strict=True)})
        for b, row in zip(best, scores, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Filling:
    """The likeliest tokens at one masked position: id, spelling, probability."""

    position: int
    tokens: list[tuple[int, str, float]]


def fill(text: Text, logits: ndarray, tokens: Tokens) -> list[Filling]:
    """logits [T, V] of a masked language model -> the fillings of every mask in the text."""
    import numpy as np

    mask = tokens.mask()
    if mask is None:
        raise fail("SYS022", "the tokenizer has no mask token", None, "name it as `mask_token` in tokenizer_config.json")
    places = [position for position, token in enumerate(text.ids) if token == mask]
    if not places:
        raise fail("SYS022", f"a text has no mask to fill; this tokenizer spells it {tokens.name(mask)}")
    found = []
    for position in places:
        chances = softmax(logits[position].astype(np.float64))
        best = np.argsort(-chances, kind="stable")[:FILLINGS]
        found.append(Filling(position, [(int(t), tokens.spelling(int(t)), float(chances[t])) for t in best]))
    return found


def softmax(scores: ndarray) -> ndarray:
    import numpy as np

    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)
