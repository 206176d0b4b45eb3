"""Generation against transformers, however prompts are cut and padded; and where it stops."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from specc.diagnostics.finding import SpecError
from specc.tools.runtime.beam import Beams
from specc.tools.runtime.generate import Stepper, generate, searched
from specc.tools.runtime.inputs import left_padded
from specc.tools.runtime.sampling import Sampling
from specc.tools.runtime.session import Graph, open_graph
from tests.tolerance import TOLERANCE, distance
from tests.tools.runtime.built import CONTEXT, VOCAB, built, reference

pytest.importorskip("onnxruntime")
pytest.importorskip("transformers")
SHORT, LONG = [7, 250, 31], [5, 9, 200, 4, 4, 17, 80, 81, 3, 2, 60]


@pytest.fixture(params=["llama", "gpt2"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def graph(kind: str) -> Graph:
    return open_graph(built(kind), "cpu")


def ids(graph: Graph, prompts: list[list[int]], new: int = 16, **options) -> list[list[int]]:
    return [row.ids for row in generate(graph, prompts, new, **options)]


def greedy(kind: str, prompt: list[int], new: int = 16) -> list[int]:
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = reference(kind).generate(torch.tensor([prompt]), max_new_tokens=new, do_sample=False, eos_token_id=None, pad_token_id=0)
    return found[0, len(prompt) :].tolist()


def test_greedy_is_that_of_transformers(kind: str, graph: Graph):
    assert ids(graph, [SHORT]) == [greedy(kind, SHORT)]
    assert len(set(greedy(kind, LONG))) > 2, "a model that repeats itself proves little"


@pytest.mark.parametrize("chunk", [1, 4, 7, 256])
def test_rows_of_a_padded_batch_are_as_alone(kind: str, graph: Graph, chunk: int):
    assert ids(graph, [SHORT, LONG], chunk=chunk) == [greedy(kind, SHORT), greedy(kind, LONG)]


def test_logits_of_a_padded_batch_in_chunks(kind: str, graph: Graph):
    import torch

    tokens, mask = left_padded([SHORT, LONG])
    stepper = Stepper(graph, 2)
    stepper.step(tokens[:, :4], mask[:, :4], logits=False)
    stepper.step(tokens[:, 4:9], mask[:, :9], logits=False)
    found = stepper.step(tokens[:, 9:], mask)
    with torch.no_grad():
        expected = [reference(kind)(torch.tensor([row])).logits[0, -1].numpy() for row in (SHORT, LONG)]
    assert distance(found, np.stack(expected)) < TOLERANCE["float32"]


@pytest.mark.parametrize("beams", [Beams(2), Beams(4, 0.5, True), Beams(3, 2.0, "never")])
def test_beams_are_those_of_transformers(kind: str, graph: Graph, beams: Beams):
    import torch

    ends = frozenset(greedy(kind, LONG)[3:5])
    expected = []
    for prompt in (SHORT, LONG):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = reference(kind).generate(
                torch.tensor([prompt]), max_new_tokens=12, do_sample=False, eos_token_id=sorted(ends), pad_token_id=0, num_beams=beams.count,
                length_penalty=beams.length_penalty, early_stopping=beams.early_stopping,
            )  # fmt: skip
        row = found[0, len(prompt) :].tolist()
        expected.append(row[: next((n + 1 for n, token in enumerate(row) if token in ends), len(row))])
    rows = searched(graph, [SHORT, LONG], 12, beams, ends, chunk=4)
    assert [row.ids for row in rows] == expected
    assert {row.stop for row in rows} <= {"eos", "length"}


def test_drawing_from_one_token_is_greedy(kind: str, graph: Graph):
    assert ids(graph, [SHORT], sampling=Sampling(1.7, top_k=1, seed=5)) == [greedy(kind, SHORT)]
    assert ids(graph, [SHORT], sampling=Sampling(1.0, top_p=1e-9)) == [greedy(kind, SHORT)]


def test_draws_follow_the_seed_and_not_the_batch(graph: Graph):
    first = ids(graph, [SHORT], sampling=Sampling(1.0, seed=1))
    assert ids(graph, [SHORT], sampling=Sampling(1.0, seed=1)) == first
    assert ids(graph, [SHORT, LONG], sampling=Sampling(1.0, seed=1))[:1] == first
    assert ids(graph, [SHORT], sampling=Sampling(1.0, seed=2)) != first
    two = ids(graph, [SHORT, SHORT], sampling=Sampling(1.0, seed=1))
    assert two[0] != two[1]


def test_it_ends_with_an_end_token_and_the_other_rows_go_on(kind: str, graph: Graph):
    expected = greedy(kind, SHORT)
    end = next(token for token in expected if token not in greedy(kind, LONG))
    rows = generate(graph, [SHORT, LONG], 16, eos=frozenset({end}))
    assert (rows[0].ids, rows[0].stop) == (expected[: expected.index(end) + 1], "eos")
    assert (rows[1].ids, rows[1].stop) == (greedy(kind, LONG), "length")


def test_it_ends_at_the_context(graph: Graph):
    (row,) = generate(graph, [list(range(CONTEXT - 4))], 16)
    assert (len(row.ids), row.stop) == (4, "context")


def test_tokens_are_reported_as_they_come(graph: Graph):
    seen: list[tuple[int, int]] = []
    rows = generate(graph, [SHORT, LONG], 5, on_token=lambda row, token: seen.append((row, token)))
    assert [token for row, token in seen if row == 1] == rows[1].ids
    assert [row for row, _ in seen] == [0, 1] * 5


@pytest.mark.parametrize(
    "prompts, options, problem",
    [
        ([[]], {}, "an input is empty"),
        ([[1], [VOCAB]], {}, f"token id {VOCAB} is outside the vocabulary of {VOCAB}"),
        ([[-1]], {}, "token id -1 is outside"),
        ([[1] * (CONTEXT + 1)], {}, f"an input has {CONTEXT + 1} tokens, and the model reads {CONTEXT}"),
        ([[1]], {"new": 0}, "--max-new-tokens"),
        ([[1]], {"chunk": 0}, "--chunk"),
    ],
)
def test_what_is_refused(graph: Graph, prompts: list[list[int]], options: dict, problem: str):
    with pytest.raises(SpecError, match="SYS022") as caught:
        generate(graph, prompts, **({"new": 4} | options))
    assert problem in str(caught.value)


def test_an_encoder_does_not_generate():
    with pytest.raises(SpecError, match="does not generate: it is an encoder with the head pooled"):
        generate(open_graph(built("bert"), "cpu"), [[1]], 4)
