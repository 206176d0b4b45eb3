"""Longformer against transformers: windows of several widths, padded rows longer than any of them, global tokens in some rows and in none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from specc.faces.cli import main
from tests.reference.published import call, load_module, session, write
from tests.tolerance import TOLERANCE, distance

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

SIZES = {"vocab_size": 61, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 28, "max_position_embeddings": 40,
         "attention_window": [4, 8, 4], "num_labels": 5, "attention_probs_dropout_prob": 0.1, "hidden_dropout_prob": 0.1}  # fmt: skip
OUTPUTS = {"Model": ("last_hidden_state", "pooler_output"), "MaskedLM": ("logits",), "SequenceClassification": ("logits",), "TokenClassification": ("logits",)}
MARKED = np.zeros((3, 21), np.int64)  # a length that no window divides: the library pads what it is given
MARKED[0, [0, 9, 20]] = MARKED[1, [3, 4]] = 1  # none in the last row


@pytest.mark.parametrize("task", OUTPUTS)
def test_longformer_is_what_is_published(task: str, tmp_path: Path) -> None:
    name = "LongformerModel" if task == "Model" else f"LongformerFor{task}"
    folder = write(tmp_path / "checkpoint", transformers.LongformerConfig(**SIZES), name, spread=0.2)
    spec = tmp_path / "imported.specc"
    assert main(["import", str(folder), "-o", str(spec)]) == 0
    assert main(["build", str(spec), "--to", "torch", "-o", str(tmp_path)]) == 0
    assert main(["build", str(spec), "--to", "onnx", "-o", str(tmp_path), "--weights", str(folder)]) == 0
    network = load_module(tmp_path / "imported.py").Model.from_checkpoint(folder).float().eval()
    reference = getattr(transformers, name).from_pretrained(folder).float().eval()
    ids = np.random.default_rng(3).integers(5, 60, MARKED.shape)
    mask = np.ones_like(ids)
    mask[1, 14:], ids[1, 14:] = 0, 1
    found = {}
    for form, marks in {"marked": MARKED, "unmarked": np.zeros_like(MARKED)}.items():
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": (ids > 30).astype(np.int64), "global_attention_mask": marks}
        tensors = {key: torch.from_numpy(value) for key, value in given.items()}
        with torch.no_grad():
            theirs, ours = reference(**tensors), network(**tensors)
            if form == "unmarked":
                del tensors["global_attention_mask"]
                assert torch.equal(getattr(network(**tensors), OUTPUTS[task][0]), getattr(ours, OUTPUTS[task][0]))
        graph = call(session(tmp_path / "model.onnx"), given)
        for output in OUTPUTS[task]:
            want = getattr(theirs, output).numpy()
            real = mask.astype(bool) if want.ndim > 2 else slice(None)
            assert distance(getattr(ours, output).numpy()[real], want[real]) < TOLERANCE["float32"]
            assert distance(graph[output][real], want[real]) < TOLERANCE["float32"]
            found[form] = want
    assert distance(found["marked"][0], found["unmarked"][0]) > 1e-2
    assert distance(found["marked"][2], found["unmarked"][2]) < TOLERANCE["float32"]


@pytest.mark.parametrize(
    ("window", "because"),
    [([4, 5, 4], "even window"), ([4, 8], "even window"), (3, "even window"), (0, "even window"), ("4", "needs a number"), (4.5, "even window")],
)
def test_windows_that_are_none_are_refused(window: object, because: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = SIZES | {"model_type": "longformer", "architectures": ["LongformerModel"], "attention_window": window}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert main(["import", str(tmp_path), "-o", str(tmp_path / "imported.specc")]) == 1
    assert because in capsys.readouterr().err


def test_one_window_for_all_layers(tmp_path: Path) -> None:
    texts = []
    for window in (6, [6, 6, 6]):
        (tmp_path / "config.json").write_text(json.dumps(SIZES | {"model_type": "longformer", "attention_window": window}))
        assert main(["import", str(tmp_path), "-o", str(tmp_path / "imported.specc")]) == 0
        texts.append((tmp_path / "imported.specc").read_text())
    assert texts[0] == texts[1]
    assert "[6, 6, 6]" in texts[0]
