"""Text generation with a causal graph: prompts in chunks, then token by token over the cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from specc.diagnostics.finding import fail
from specc.tools.runtime.beam import Beams, search
from specc.tools.runtime.inputs import check_ids, check_inputs, counted, left_padded
from specc.tools.runtime.rules import Rules
from specc.tools.runtime.sampling import Sampling, pick
from specc.tools.runtime.session import Graph

if TYPE_CHECKING:
    from numpy import ndarray

CHUNK = 256  # attention's scores grow with the square of what is passed at once: chunks are faster and far smaller
GREEDY = Sampling()


@dataclass(slots=True)
class Continuation:
    """The new tokens of one prompt, the end token included, and why there are no more."""

    ids: list[int] = field(default_factory=list)
    stop: Literal["eos", "length", "context"] = "length"


class Stepper:
    """Passes tokens through the graph and keeps its cache on the device."""

    def __init__(self, graph: Graph, batch: int) -> None:
        self.graph = graph
        self.cache: dict[str, Any] = {n: graph.empty(n, batch) for n in graph.inputs if n.startswith("past_key_values.")}

    def step(self, ids: ndarray, mask: ndarray, logits: bool = True) -> ndarray | None:
        """ids [B, T] new tokens; mask [B, S] all tokens so far, the new ones included -> the last one's logits [B, V]."""
        import numpy as np

        feeds: dict[str, Any] = {"input_ids": ids, "attention_mask": mask, **self.cache}
        feeds |= counted(mask, ids.shape[1])
        feeds = {name: feeds[name] for name in self.graph.inputs}
        kept = {name: name.replace("past_key_values.", "present.", 1) for name in self.cache}
        arrays, values = self.graph.run(feeds, ["logits"] if logits else [], list(kept.values()))
        self.cache = {past: values[present] for past, present in kept.items()}
        return arrays["logits"][:, -1].astype(np.float32) if logits else None


    def keep(self, rows: ndarray) -> None:
        """Goes on with these rows of the cache, in this order; a row may come several times."""
        self.cache = {name: self.graph.rows(value, rows) for name, value in self.cache.items()}


def searched(
    graph: Graph,
    prompts: Sequence[Sequence[int]],
    new: int,
    beams: Beams,
    eos: frozenset[int] = frozenset(),
    chunk: int = CHUNK,
    on_token: Callable[[int, int], None] | None = None,
) -> list[Continuation]:
    """The best continuation that beam search finds of each prompt, one prompt after the other."""
    import numpy as np

    _check(graph, prompts, new, chunk)
    if beams.count < 1:
        raise fail("SYS022", "--num-beams is a whole number from 1 up")
    rows = []
    for number, prompt in enumerate(prompts):
        stepper = Stepper(graph, 1)
        logits = _prefill(stepper, *left_padded([prompt]), chunk)
        stepper.keep(np.zeros(beams.count, np.int64))
        length = [len(prompt)]

        def step(tokens: ndarray, parents: ndarray, stepper: Stepper = stepper, length: list[int] = length) -> ndarray:
            stepper.keep(parents)
            length[0] += 1
            return stepper.step(tokens, np.ones((len(tokens), length[0]), np.int64))

        longest = len(prompt) + new if graph.context is None else min(len(prompt) + new, graph.context)
        (found,) = search(step, [list(prompt)], logits, beams, Rules(ends=tuple(sorted(eos))), longest)
        ids = found[len(prompt) :]
        cut: Literal["length", "context"] = "length" if len(ids) >= new else "context"
        rows.append(Continuation(ids, "eos" if ids and ids[-1] in eos else cut))
        for token in ids if on_token else ():
            on_token(number, token)
    return rows


def generate(
    graph: Graph,
    prompts: Sequence[Sequence[int]],
    new: int,
    sampling: Sampling = GREEDY,
    eos: frozenset[int] = frozenset(),
    chunk: int = CHUNK,
    on_token: Callable[[int, int], None] | None = None,
) -> list[Continuation]:
    """Up to `new` tokens after each prompt. on_token is called with the row and the token as soon as there is one."""
    import numpy as np

    _check(graph, prompts, new, chunk)
    ids, mask = left_padded(prompts)
    stepper, rows = Stepper(graph, len(prompts)), [Continuation() for _ in prompts]
    generators = sampling.generators(len(prompts))
    logits = _prefill(stepper, ids, mask, chunk)
    going = dict.fromkeys(range(len(prompts)))
    while True:
        token = np.zeros((len(prompts), 1), np.int64)  # a row that is done passes token 0 on; no other row sees it
        for row in list(going):
            chosen = pick(logits[row], sampling, generators[row])
            token[row] = chosen
            rows[row].ids.append(chosen)
            if on_token is not None:
                on_token(row, chosen)
            if (stop := _stop(graph, rows[row].ids, len(prompts[row]), new, eos)) is not None:
                rows[row].stop = stop
                del going[row]
        if not going:
            return rows
        mask = np.concatenate([mask, np.ones((len(prompts), 1), np.int64)], axis=1)
        logits = stepper.step(token, mask)


def _prefill(stepper: Stepper, ids: ndarray, mask: ndarray, chunk: int) -> ndarray:
    """The logits after all prompts; those of the chunks before the last are not fetched from the device."""
    width = ids.shape[1]
    for begin in range(0, width, chunk):
        end = min(begin + chunk, width)
        logits = stepper.step(ids[:, begin:end], mask[:, :end], logits=end == width)
    return logits


def _stop(graph: Graph, ids: list[int], prompt: int, new: int, eos: frozenset[int]) -> Literal["eos", "length", "context"] | None:
    if ids[-1] in eos:
        return "eos"
    if len(ids) >= new:
        return "length"
    if graph.context is not None and prompt + len(ids) >= graph.context:
        return "context"
    return None


def _check(graph: Graph, prompts: Sequence[Sequence[int]], new: int, chunk: int) -> None:
    if not graph.causal or graph.heads != ("lm",):
        raise fail("SYS022", f"this graph does not generate: it is {described(graph)}", None, "give it --text or --ids")
    if new < 1 or chunk < 1:
        raise fail("SYS022", "--max-new-tokens and --chunk are whole numbers from 1 up")
    check_ids(graph, prompts)
    check_inputs(graph)


def described(graph: Graph) -> str:
    kind = "a causal model" if graph.causal else "an encoder"
    return f"{kind} with the head {' and '.join(graph.heads)}"
