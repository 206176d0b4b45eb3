"""Sessions: which provider runs, which weights are refused, and what a run hands back."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from specc.backends.onnx.write import write
from specc.diagnostics.finding import SpecError
from specc.faces.loading import one_model
from specc.tools.runtime import session as sessions
from specc.tools.runtime.provider import cuda_obstacle, cuda_session
from specc.tools.runtime.session import open_graph
from specc.weights.init import init
from tests.tolerance import distance
from tests.tools.runtime.built import built, checkpoint, reference, spec

pytest.importorskip("onnxruntime")
pytest.importorskip("transformers")


def refused(folder: Path, provider: str = "cpu") -> str:
    with pytest.raises(SpecError) as caught:
        open_graph(folder, provider)
    return str(caught.value)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(built("llama"), tmp_path / "copy"))


# ---- the weights' seal


def test_untouched_weights_open(copy: Path):
    assert open_graph(copy, "cpu").session is not None


def test_a_changed_size_is_refused(copy: Path):
    with (copy / "model.safetensors").open("ab") as file:
        file.write(b"\0")
    assert refused(copy).startswith("WGT020: model.safetensors is not the file that the graph was built over: it has ")


def test_a_changed_header_is_refused(copy: Path):
    path = copy / "model.safetensors"
    data = path.read_bytes()
    changed = data.replace(b"layers.0", b"layers.1", 1)
    assert len(changed) == len(data) and changed != data
    path.write_bytes(changed)
    assert refused(copy) == "WGT020: model.safetensors is not the file that the graph was built over: its header has changed"


def test_cut_weights_are_refused_by_the_seal_and_not_by_onnxruntime(copy: Path):
    path = copy / "model.safetensors"
    path.write_bytes(path.read_bytes()[:5000])
    assert refused(copy).startswith("WGT020: ")


def test_missing_weights_are_refused(copy: Path):
    (copy / "model.safetensors").unlink()
    assert refused(copy).startswith("WGT020: the graph points into model.safetensors, and ")


def test_a_graph_without_weights_takes_those_that_its_spec_makes(tmp_path: Path):
    model = one_model(str(spec("llama"))).model
    write(model, tmp_path)
    with pytest.raises(SpecError) as caught:
        open_graph(tmp_path, "cpu")
    assert "weights init" in caught.value.diagnostics[0].help
    init(model, tmp_path)
    assert open_graph(tmp_path, "cpu").causal
    init(model, tmp_path, dtype="BF16")
    assert refused(tmp_path).startswith("WGT020: weights.safetensors is not the file")


def test_weights_in_a_download_cache(tmp_path: Path):
    blob, snapshot = tmp_path / "blobs" / "0123abcd", tmp_path / "snapshots" / "main"
    for folder in (blob.parent, snapshot):
        folder.mkdir(parents=True)
    shutil.copyfile(checkpoint("llama") / "model.safetensors", blob)
    os.symlink("../../blobs/0123abcd", snapshot / "model.safetensors")
    write(one_model(str(spec("llama"))).model, snapshot, snapshot)
    ids = {"input_ids": np.array([[1, 2, 3]]), "attention_mask": np.ones((1, 3), np.int64), "position_ids": np.array([[0, 1, 2]])}
    graphs = [open_graph(folder, "cpu") for folder in (snapshot, built("llama"))]
    one, two = [g.run(ids | {n: g.empty(n, 1) for n in g.inputs if n not in ids}, ["logits"])[0]["logits"] for g in graphs]
    assert np.array_equal(one, two)


# ---- what is no graph


def test_a_folder_without_a_graph(tmp_path: Path):
    assert refused(tmp_path) == f"SYS021: {tmp_path} holds no model.onnx"


def test_a_file_that_is_no_graph(tmp_path: Path):
    (tmp_path / "model.onnx").write_bytes(b"\xff\xff not a graph")
    assert refused(tmp_path).startswith("SYS021: ")


def test_a_graph_that_says_nothing_of_itself(tmp_path: Path):
    (tmp_path / "model.onnx").write_bytes(b"")
    assert "was not built by this version of specc" in refused(tmp_path)


# ---- providers


def test_auto_takes_the_cpu_where_there_is_no_cuda(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sessions, "cuda_obstacle", lambda: "no driver")
    graph = open_graph(built("llama"))
    assert graph.device == "cpu"
    assert graph.remark.endswith(" on the CPU (no driver)")


def test_auto_takes_the_cpu_where_cuda_does_not_load(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sessions, "cuda_obstacle", lambda: None)
    monkeypatch.setattr(sessions, "cuda_session", lambda path, options: (None, "it does not load"))
    assert open_graph(built("llama")).remark.endswith(" on the CPU (it does not load)")
    assert refused(built("llama"), "cuda") == "SYS020: CUDA cannot be used: it does not load"


def test_cuda_where_it_is_not(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sessions, "cuda_obstacle", lambda: "no driver")
    assert refused(built("llama"), "cuda") == "SYS020: CUDA cannot be used: no driver"


def test_trying_cuda_says_why_not_and_nothing_else(capfd: pytest.CaptureFixture):
    made, why = cuda_session(str(built("llama") / "model.onnx"), sessions._options(False, None))
    assert (made is None) == bool(why)
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(cuda_obstacle() is not None, reason=f"no CUDA here: {cuda_obstacle()}")
def test_cuda_computes_what_the_cpu_does():
    from specc.tools.runtime.generate import generate

    both = [generate(open_graph(built("llama"), provider), [[1, 2, 3], [9]], 12) for provider in ("cpu", "cuda")]
    assert [row.ids for row in both[0]] == [row.ids for row in both[1]]


def test_session_entries():
    entries = ("session.set_denormal_as_zero", "session.disable_prepacking")
    for fast, expected in ((False, ["1", None]), (True, ["1", "1"])):
        options = sessions._options(fast, None)
        found = []
        for entry in entries:
            try:
                found.append(options.get_session_config_entry(entry))
            except RuntimeError:
                found.append(None)
        assert found == expected


# ---- runs


@pytest.mark.parametrize("fast_start", [False, True])
def test_a_run_gives_the_reference(fast_start: bool):
    import torch

    graph = open_graph(built("llama"), "cpu", fast_start)
    ids = np.arange(12, dtype=np.int64).reshape(2, 6)
    feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "position_ids": np.arange(6)[None].repeat(2, 0)}
    feeds |= {n: graph.empty(n, 2) for n in graph.inputs if n not in feeds}
    arrays, kept = graph.run(feeds, ["logits"], ["present.0.key"])
    with torch.no_grad():
        expected = reference("llama")(torch.tensor(ids)).logits.numpy()
    assert distance(arrays["logits"], expected) < 1e-5
    assert kept["present.0.key"].device_name() == "cpu"
    assert kept["present.0.key"].shape() == [2, 2, 6, 8]


def test_bfloat16_outputs_and_caches(tmp_path: Path):
    """numpy has no bfloat16, so the bits go through an array of specc's own."""
    from onnx import TensorProto, helper

    kind = TensorProto.BFLOAT16
    nodes = [
        helper.make_node("Cast", ["input_ids"], ["logits"], to=kind),
        helper.make_node("Concat", ["past_key_values.0.key", "logits"], ["present.0.key"], axis=1),
    ]
    given = [
        helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "sequence"]),
        helper.make_tensor_value_info("past_key_values.0.key", kind, ["batch", "past_sequence"]),
    ]
    made = [helper.make_tensor_value_info("logits", kind, ["batch", "sequence"])]
    made += [helper.make_tensor_value_info("present.0.key", kind, ["batch", "total_sequence"])]
    model = helper.make_model(helper.make_graph(nodes, "g", given, made), ir_version=11, opset_imports=[helper.make_opsetid("", 23)])
    known = {"specc.model": "m", "specc.weights": "", "specc.kind": "causal", "specc.head": "lm"}
    helper.set_model_props(model, known)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    graph = open_graph(tmp_path, "cpu")
    past, steps = graph.empty("past_key_values.0.key", 1), []
    for token in (3, 300):  # 300 is exact in bfloat16, 301 is not
        arrays, kept = graph.run({"input_ids": np.array([[token]]), "past_key_values.0.key": past}, ["logits"], ["present.0.key"])
        past = kept["present.0.key"]
        steps.append(float(arrays["logits"][0, 0]))
    assert steps == [3.0, 300.0]
    assert past.shape() == [1, 2]


def test_what_the_graph_says_of_itself():
    graph = open_graph(built("gpt2"), "cpu")
    config = json.loads((built("gpt2") / "config.json").read_text())
    assert (graph.causal, graph.heads, graph.vocab, graph.context) == (True, ("lm",), config["vocab_size"], config["n_positions"])
