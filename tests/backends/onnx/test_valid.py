"""What the graph file is: valid by onnx's own checks, its shapes those that come out, its axes named, its nodes traced."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest

from specc.backends.onnx.write import write
from specc.faces.cli import main
from tests.backends.onnx.models import BIDIRECTIONAL, FUSED, SPECS, model, save
from tests.backends.onnx.running import open_session, run, tokens

pytest.importorskip("onnxruntime")
NAMES = tuple(SPECS)
SHARDED = ("grouped", "encoder", *FUSED)


def built(name: str, folder: Path, how: str, shards: int = 1) -> Path:
    weights = save(name, folder / "weights", shards=shards)
    out = weights if how == "beside" else folder / how
    return write(model(name), out, weights, how).graph


def check(graph: Path, folder: Path) -> onnx.ModelProto:
    """The checker in full, and strict inference of shapes and small values; returns the graph with what was inferred."""
    onnx.checker.check_model(str(graph), full_check=True)
    inferred = folder / "inferred.onnx"
    onnx.shape_inference.infer_shapes_path(str(graph), str(inferred), check_type=True, strict_mode=True, data_prop=True)
    return onnx.load(inferred, load_external_data=False)


@pytest.mark.parametrize("how", ["beside", "copy"])
@pytest.mark.parametrize("name", NAMES)
def test_the_checker_passes(name: str, how: str, tmp_path: Path):
    inferred = check(built(name, tmp_path, how), tmp_path).graph
    known = {value.name for value in (*inferred.value_info, *inferred.output, *inferred.input)}
    assert {output for node in inferred.node for output in node.output if output} <= known, "a value has no inferred type"


@pytest.mark.parametrize("how", ["beside", "link", "copy"])
@pytest.mark.parametrize("name", SHARDED)
def test_shards(name: str, how: str, tmp_path: Path):
    graph = built(name, tmp_path, how, shards=3)
    tensors = onnx.load(graph, load_external_data=False).graph.initializer
    assert len({entry.value for t in tensors for entry in t.external_data if entry.key == "location"}) == 3
    if how != "link":
        check(graph, tmp_path)
    one = built(name, tmp_path / "one", "beside")
    given = tokens(2, 7)
    for got, want in zip(run(open_session(graph), given).values(), run(open_session(one), given).values(), strict=True):
        assert np.array_equal(got, want)


@pytest.mark.parametrize("name", NAMES)
def test_link_runs_and_the_declared_shapes_are_those_that_come_out(name: str, tmp_path: Path):
    session = open_session(built(name, tmp_path, "link"))
    found = run(session, tokens(3, 5))
    sizes = {"batch": 3, "sequence": 5, "total_sequence": 5, "past_sequence": 0}
    for output in session.get_outputs():
        assert list(found[output.name].shape) == [sizes.get(extent, extent) for extent in output.shape], output.name
        assert np.isfinite(found[output.name]).all()


@pytest.mark.parametrize("name", NAMES)
def test_only_batch_and_lengths_are_symbolic(name: str, tmp_path: Path):
    graph = onnx.load(built(name, tmp_path, "beside"), load_external_data=False).graph
    axes = {v.name: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in (*graph.input, *graph.output)}
    causal = name not in BIDIRECTIONAL
    assert axes["input_ids"] == ["batch", "sequence"]
    assert axes["attention_mask"] == ["batch", "total_sequence" if causal else "sequence"]
    assert ("position_ids" in axes) == (causal and any(w in SPECS[name] for w in ("rope", "alibi", "learned_position")))
    for key, shape in axes.items():
        if key.startswith(("past_key_values.", "present.")):
            growing = "past_sequence" if key.startswith("past") else "total_sequence"
            assert causal and shape[0] == "batch" and shape[2] == growing and isinstance(shape[1], int) and isinstance(shape[3], int)
    symbols = {extent for shape in axes.values() for extent in shape if isinstance(extent, str)}
    assert symbols <= {"batch", "sequence", "past_sequence", "total_sequence"}


@pytest.mark.parametrize("name", NAMES)
def test_every_node_of_a_layer_says_where_it_comes_from(name: str, tmp_path: Path):
    spec = tmp_path / "probe.specc"
    spec.write_text(SPECS[name])
    assert main(["build", str(spec), "--to", "onnx", "-o", str(tmp_path)]) == 0
    graph = onnx.load(tmp_path / "model.onnx", load_external_data=False).graph
    nodes = list(_every_node(graph))
    assert len({node.name for node in nodes}) == len(nodes)
    made = [output for node in nodes for output in node.output if output]
    assert len(set(made)) == len(made)
    lines = SPECS[name].splitlines()
    for node in nodes:
        properties = {entry.key: entry.value for entry in node.metadata_props}
        if not node.name.startswith("layers/"):
            assert not any(given.startswith("layers") for given in node.input if "." in given), node.name
            continue
        path = ".".join(node.name.split("/")[:-1])
        assert properties["specc.path"] == path
        field, line = _part(path), re.fullmatch(r"probe\.specc:(\d+)", properties["specc.source"])
        assert line, properties
        assert re.search(rf"\b{field} *=", lines[int(line[1]) - 1]), (path, properties)
    assert any(node.name.startswith("layers/0/Add") for node in nodes)


def _part(path: str) -> str:
    """The field of the spec that a node of a layer comes from; sums of sublayers come from the block."""
    parts = path.split(".")
    return parts[2].rpartition("_")[2] if len(parts) > 2 else "block"


def _every_node(graph: onnx.GraphProto):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _every_node(attribute.g)


def test_a_section_s_own_fields_are_traced_to_its_lines(tmp_path: Path):
    spec = tmp_path / "probe.specc"
    local = "  layer wide {\n    attention = attention(heads: 3, head_dim: 4)\n  }\n  layer plain { mask = causal }\n"
    local += "  layers = [wide, plain]\n"
    spec.write_text(SPECS["grouped"].rsplit("\n", 2)[0] + "\n" + local + "}\n")
    assert main(["build", str(spec), "--to", "onnx", "-o", str(tmp_path)]) == 0
    graph = onnx.load(tmp_path / "model.onnx", load_external_data=False).graph
    found = {}
    for node in graph.node:
        properties = {entry.key: entry.value for entry in node.metadata_props}
        if node.op_type == "Attention":
            found[properties["specc.path"]] = properties["specc.source"]
    lines = spec.read_text().splitlines()
    wide = next(n for n, line in enumerate(lines, 1) if "heads: 3" in line)
    plain = next(n for n, line in enumerate(lines, 1) if "heads: 4" in line)
    assert found == {"layers.0.attention": f"probe.specc:{wide}", "layers.1.attention": f"probe.specc:{plain}"}


def test_nothing_warns(tmp_path: Path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        built("grouped", tmp_path, "beside")
