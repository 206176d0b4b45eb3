"""What an encoder-decoder writes of a source: greedy, drawn, or by beam search, under the settings that it was published with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specc.diagnostics.finding import fail
from specc.tools.runtime.beam import search
from specc.tools.runtime.generate import GREEDY, Continuation
from specc.tools.runtime.inputs import check_ids, right_padded
from specc.tools.runtime.published import Settings
from specc.tools.runtime.sampling import Sampling, pick
from specc.tools.runtime.session import Graph, Provider, open_graph

if TYPE_CHECKING:
    from numpy import ndarray

ENCODER, DECODER = "encoder_model.onnx", "decoder_model.onnx"


def is_encoder_decoder(folder: Path) -> bool:
    return (folder / DECODER).is_file()


def open_both(folder: Path, provider: Provider = "auto", fast_start: bool = False) -> tuple[Graph, Graph]:
    """The encoder's graph and the decoder's. Raises SpecError where one is missing."""
    return open_graph(folder, provider, fast_start, ENCODER), open_graph(folder, provider, fast_start, DECODER)


class Writer:
    """Passes tokens through the decoder. The encoder runs once; its keys and values are made by the first step and kept."""

    def __init__(self, encoder: Graph, decoder: Graph, sources: Sequence[Sequence[int]]) -> None:
        ids, self.mask = right_padded(sources)
        arrays, _ = encoder.run({"input_ids": ids, "attention_mask": self.mask}, ["last_hidden_state"])
        self.hidden = arrays["last_hidden_state"].astype(_numpy_type(decoder.inputs["encoder_hidden_states"][0]))
        self.graph = decoder
        self.cache: dict[str, Any] = {n: decoder.empty(n, len(sources)) for n in decoder.inputs if n.startswith("past_key_values.")}

    def step(self, ids: ndarray) -> ndarray:
        """ids [B, T] new tokens -> the last one's logits [B, V]"""
        import numpy as np

        given = {"input_ids": ids, "encoder_hidden_states": self.hidden, "encoder_attention_mask": self.mask, **self.cache}
        kept = {name: name.replace("past_key_values.", "present.", 1) for name in self.cache}
        arrays, values = self.graph.run({name: given[name] for name in self.graph.inputs}, ["logits"], list(kept.values()))
        self.cache = {past: values[present] for past, present in kept.items()}
        self.hidden = self.hidden[:, :0]  # what the decoder reads of it is in the cache
        return arrays["logits"][:, -1].astype(np.float32)

    def keep(self, rows: ndarray) -> None:
        """Goes on with these rows, in this order; a row may come several times."""
        self.mask, self.hidden = self.mask[rows], self.hidden[rows]
        self.cache = {name: self.graph.rows(value, rows) for name, value in self.cache.items()}


def translate(
    graphs: tuple[Graph, Graph],
    sources: Sequence[Sequence[int]],
    settings: Settings,
    longest: int,
    sampling: Sampling = GREEDY,
    on_token: Callable[[int, int], None] | None = None,
) -> list[Continuation]:
    """What is written of each source, the start left out. longest: tokens of a row, the start included."""
    import numpy as np

    encoder, decoder = graphs
    _check(decoder, sources, settings, longest, sampling)
    writer, start = Writer(encoder, decoder, sources), list(settings.start)
    logits = writer.step(np.array([start] * len(sources), np.int64))
    if settings.beams.count == 1:
        return _one_by_one(writer, logits, start, settings, longest, sampling, on_token)
    writer.keep(np.repeat(np.arange(len(sources)), settings.beams.count))

    def step(tokens: ndarray, parents: ndarray) -> ndarray:
        if (parents != np.arange(len(parents))).any():
            writer.keep(parents)
        return writer.step(tokens)

    found = search(step, [start] * len(sources), logits, settings.beams, settings.rules, longest)
    rows = [Continuation(tokens[len(start) :], "eos" if tokens[-1] in settings.rules.ends else "length") for tokens in found]
    for number, row in enumerate(rows if on_token else ()):
        for token in row.ids:
            on_token(number, token)
    return rows


def _one_by_one(
    writer: Writer, logits: ndarray, start: list[int], settings: Settings, longest: int, sampling: Sampling, on_token: Callable[[int, int], None] | None
) -> list[Continuation]:
    import numpy as np

    count = len(logits)
    rows, written = [Continuation() for _ in range(count)], [list(start) for _ in range(count)]
    generators, going = sampling.generators(count), dict.fromkeys(range(count))
    while True:
        scores = settings.rules.apply(logits, written, len(start), longest)
        for row in range(count):
            chosen = pick(scores[row], sampling, generators[row]) if row in going else 0  # a row that is done passes token 0 on
            written[row].append(chosen)
            if row not in going:
                continue
            rows[row].ids.append(chosen)
            if on_token is not None:
                on_token(row, chosen)
            if chosen in settings.rules.ends or len(written[row]) >= longest:
                rows[row].stop = "eos" if chosen in settings.rules.ends else "length"
                del going[row]
        if not going:
            return rows
        logits = writer.step(np.array([[tokens[-1]] for tokens in written], np.int64))


def _check(decoder: Graph, sources: Sequence[Sequence[int]], settings: Settings, longest: int, sampling: Sampling) -> None:
    if decoder.heads != ("lm",):
        raise fail("SYS022", f"this graph does not write: its head is {' and '.join(decoder.heads)}")
    if not settings.start:
        raise fail("SYS022", "no token is published that the decoder starts with", None, "give --start-token ID")
    if longest <= len(settings.start):
        raise fail("SYS022", "--max-new-tokens is a whole number from 1 up")
    if settings.beams.count < 1:
        raise fail("SYS022", "--num-beams is a whole number from 1 up")
    if settings.beams.count > 1 and sampling.temperature:
        raise fail("SYS022", "beams are not drawn: --temperature, --top-k and --top-p go with --num-beams 1")
    if decoder.context is not None and longest > decoder.context + 1:
        raise fail("SYS022", f"{longest - 1} tokens are more than the {decoder.context} that the decoder has positions for", None, "give --max-new-tokens")
    check_ids(decoder, sources)


def _numpy_type(kind: str) -> str:
    found = {"tensor(float)": "float32", "tensor(float16)": "float16"}.get(kind)
    if found is None:
        raise fail("SYS022", "`specc run` hands no bfloat16 from an encoder to its decoder", None, "build with --dtype fp32 or fp16")
    return found
