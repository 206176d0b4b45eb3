"""Encoders, classifiers and masked language models against transformers, text by text."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specc.backends.onnx.write import write
from specc.diagnostics.finding import SpecError
from specc.faces.loading import one_model
from specc.tools.runtime.encode import classify, encode, fill
from specc.tools.runtime.session import open_graph
from specc.tools.runtime.tokens import Text, Tokens
from specc.weights.init import init
from tests.tolerance import TOLERANCE, distance
from tests.tools.runtime.built import built, reference

pytest.importorskip("onnxruntime")
pytest.importorskip("transformers")
CAUSAL = """model m {
  vocab = 40  dim = 16  depth = 2  context = 16
  position = rope(theta: 500)  mask = causal  norm = rms(eps: 1e-5)
  attention = attention(heads: 2)
  ffn = gated(hidden: 28, activation: silu)
  block = pre_norm  head = classify(3, pool: last)
}"""
SENTENCES = ["the cat sat", "a [MASK] sat on the [MASK] on a mat"]


def texts(kind: str) -> list[Text]:
    return [Tokens(built(kind)).encode(sentence) for sentence in SENTENCES]


def expected(kind: str) -> list[Any]:
    """Each text alone, so without padding."""
    import torch

    with torch.no_grad():
        return [reference(kind)(torch.tensor([text.ids])) for text in texts(kind)]


def found(kind: str) -> list[dict[str, np.ndarray]]:
    return encode(open_graph(built(kind), "cpu"), texts(kind))


def test_embeddings_of_a_padded_batch():
    for outputs, wanted in zip(found("bert"), expected("bert"), strict=True):
        assert distance(outputs["last_hidden_state"], wanted.last_hidden_state[0].numpy()) < TOLERANCE["float32"]
        assert distance(outputs["pooler_output"], wanted.pooler_output[0].numpy()) < TOLERANCE["float32"]


def test_segments_reach_the_model():
    import torch

    (text, *_) = texts("bert")
    second = Text(text.ids, text.tokens, [0, 0, 1, 1, 1])
    (outputs,) = encode(open_graph(built("bert"), "cpu"), [second])
    with torch.no_grad():
        wanted = reference("bert")(torch.tensor([text.ids]), token_type_ids=torch.tensor([second.segments]))
    assert distance(outputs["last_hidden_state"], wanted.last_hidden_state[0].numpy()) < TOLERANCE["float32"]


def test_a_class_for_each_text():
    graph = open_graph(built("sequences"), "cpu")
    for outputs, wanted in zip(found("sequences"), expected("sequences"), strict=True):
        (label,) = classify(graph, outputs["logits"][None])
        chances = wanted.logits[0].softmax(0)
        assert label.label == ["cold", "mild", "hot"][int(chances.argmax())]
        assert label.score == pytest.approx(float(chances.max()), rel=1e-4)
        assert sum(label.scores.values()) == pytest.approx(1)


def test_a_class_for_each_token():
    graph = open_graph(built("tokens"), "cpu")
    for outputs, wanted in zip(found("tokens"), expected("tokens"), strict=True):
        names = [label.label for label in classify(graph, outputs["logits"])]
        assert names == [["cold", "mild", "hot"][int(n)] for n in wanted.logits[0].argmax(-1)]


@pytest.mark.parametrize(
    "problem, scores", [("multi_label_classification", [0.5, 1 / (1 + np.exp(-2)), 1 / (1 + np.exp(1))]), ("regression", [0.0, 2.0, -1.0])]
)
def test_scores_that_are_no_distribution(tmp_path: Path, problem: str, scores: list[float]):
    folder = Path(shutil.copytree(built("sequences"), tmp_path / "copy"))
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(config.replace("{", f'{{"problem_type": "{problem}",', 1))
    (label,) = classify(open_graph(folder, "cpu"), np.array([[0.0, 2.0, -1.0]]))
    assert list(label.scores.values()) == pytest.approx(scores)


def test_a_causal_classifier_reads_the_last_real_token(tmp_path: Path):
    (tmp_path / "m.specc").write_text(CAUSAL)
    model = one_model(str(tmp_path / "m.specc")).model
    write(model, tmp_path)
    init(model, tmp_path)
    graph = open_graph(tmp_path, "cpu")
    rows = [[3, 9, 20, 31, 5, 6], [8, 30]]
    both = encode(graph, [Text(row, [], [0] * len(row)) for row in rows])
    alone = [encode(graph, [Text(row, [], [0] * len(row))])[0] for row in rows]
    for one, other in zip(both, alone, strict=True):
        assert one["logits"].shape == (3,)
        assert distance(one["logits"], other["logits"]) < TOLERANCE["float32"]
    assert distance(both[0]["logits"], both[1]["logits"]) > 0.1


def test_every_mask_is_filled():
    tokens = Tokens(built("masked"))
    text, outputs, wanted = texts("masked")[1], found("masked")[1], expected("masked")[1]
    filled = fill(text, outputs["logits"], tokens)
    assert [f.position for f in filled] == [2, 6]
    for one in filled:
        best = wanted.logits[0, one.position].softmax(0).topk(5)
        assert [token for token, _, _ in one.tokens] == best.indices.tolist()
        assert [score for _, _, score in one.tokens] == pytest.approx(best.values.tolist(), rel=1e-4)


def test_a_text_without_a_mask():
    with pytest.raises(SpecError, match=r"SYS022: a text has no mask to fill; this tokenizer spells it \[MASK\]"):
        fill(texts("masked")[0], found("masked")[0]["logits"], Tokens(built("masked")))


def test_a_causal_model_is_not_read():
    with pytest.raises(SpecError, match="SYS022: this graph generates text"):
        encode(open_graph(built("gpt2"), "cpu"), [Text([1], ["a"], [0])])
