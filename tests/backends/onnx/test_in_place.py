"""No tensor is copied or rewritten: what the graph takes as its weights are the checkpoint's own bytes."""

from __future__ import annotations

import subprocess
import sys
from math import prod
from pathlib import Path

import numpy as np
import onnx
import pytest

from specc.backends.onnx.write import write
from tests.backends.onnx.models import FUSED, SPECS, all_of, mixed, model, save

KINDS = {onnx.TensorProto.FLOAT: "float32", onnx.TensorProto.FLOAT16: "float16", onnx.TensorProto.BFLOAT16: "bfloat16"}
INLINE = 64 << 10


def initializers(graph: Path) -> dict[str, onnx.TensorProto]:
    return {t.name: t for t in onnx.load(graph, load_external_data=False).graph.initializer}


def place(tensor: onnx.TensorProto) -> tuple[str, int, int]:
    found = {entry.key: entry.value for entry in tensor.external_data}
    return found["location"], int(found["offset"]), int(found["length"])


def read_in_place(graph: Path, tensor: onnx.TensorProto) -> np.ndarray:
    import ml_dtypes

    location, offset, length = place(tensor)
    dtype = np.dtype(ml_dtypes.bfloat16) if KINDS[tensor.data_type] == "bfloat16" else np.dtype(KINDS[tensor.data_type])
    assert length == prod(tensor.dims) * dtype.itemsize
    with (graph.parent / location).open("rb") as file:
        file.seek(offset)
        return np.frombuffer(file.read(length), dtype).reshape(tensor.dims)


def by_the_library(folder: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return {name: array for file in sorted(folder.glob("*.safetensors")) for name, array in load_file(file).items()}


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("types", [all_of("F32"), all_of("BF16"), mixed], ids=["F32", "BF16", "mixed"])
@pytest.mark.parametrize("name", ["grouped", "tied", "encoder", "moe", "mla", "sinks"])
def test_own_layout(name: str, types, shards: int, tmp_path: Path):
    """Each initialiser is the tensor of its name, whole."""
    pytest.importorskip("ml_dtypes")
    folder = save(name, tmp_path / "w", types, shards)
    graph = write(model(name), folder, folder).graph
    library = by_the_library(folder)
    outside = {n: t for n, t in initializers(graph).items() if t.data_location == onnx.TensorProto.EXTERNAL}
    for key, tensor in outside.items():
        got = read_in_place(graph, tensor)
        assert got.dtype == library[key].dtype and np.array_equal(got, library[key]), key
    assert set(outside) == set(library)


def rows(order: dict[str, int], part: str) -> slice:
    first = sum(list(order.values())[: list(order).index(part)])
    return slice(first, first + order[part])


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("name", FUSED)
def test_published_layouts(name: str, shards: int, tmp_path: Path):
    """A part that lies in one piece is that piece; one that does not is the whole tensor, and the output is split."""
    folder = save(name, tmp_path / "w", shards=shards)
    graph = write(model(name), folder, folder).graph
    library, found = by_the_library(folder), initializers(graph)
    attention = model(name).stack.layers[0].instance("attention").component
    order = {"q": attention.q_width, "k": attention.kv_width, "v": attention.kv_width}
    published = library["t.h.0.qkv.weight"]
    if name in ("fused_transposed", "fused_turns"):
        assert np.array_equal(read_in_place(graph, found["layers.0.attention.q+k+v.weight"]), published)
        assert not any(f"layers.0.attention.{part}.weight" in found for part in order)
    else:
        for part in order:
            got = read_in_place(graph, found[f"layers.0.attention.{part}.weight"])
            assert np.array_equal(got, published[rows(order, part)]), part
    if name == "fused_stacked":
        experts = library["t.h.1.experts_gate_up.weight"]
        assert np.array_equal(read_in_place(graph, found["layers.1.ffn.experts.2.gate+up.weight"]), experts[2])
        assert np.array_equal(read_in_place(graph, found["layers.1.ffn.experts.3.down.weight"]), library["t.h.1.experts_down.weight"][3])
    else:
        gate_up, hidden = library["t.h.0.gate_up.weight"], {"gate": 20, "up": 20}
        for part in hidden:
            assert np.array_equal(read_in_place(graph, found[f"layers.0.ffn.{part}.weight"]), gate_up[rows(hidden, part)])
        assert np.array_equal(read_in_place(graph, found["layers.0.ffn.down.weight"]), library["t.h.0.down.weight"])
    _covered(found, folder)


def _covered(found: dict[str, onnx.TensorProto], folder: Path) -> None:
    """No byte of a tensor is pointed at twice, and none is left out."""
    spans = sorted(place(t) for t in found.values() if t.data_location == onnx.TensorProto.EXTERNAL)
    ends: dict[str, int] = {}
    for location, offset, length in spans:
        assert offset >= ends.get(location, 0), f"{location} overlaps at {offset}"
        ends[location] = offset + length
    total = sum(length for _, _, length in spans)
    sizes = sum(file.stat().st_size - 8 - int.from_bytes(file.read_bytes()[:8], "little") for file in folder.glob("*.safetensors"))
    assert total == sizes


@pytest.mark.parametrize("name", SPECS)
def test_what_the_graph_holds_itself_is_small(name: str, tmp_path: Path):
    folder = save(name, tmp_path / "w")
    found = initializers(write(model(name), folder, folder).graph)
    inline = {n: t for n, t in found.items() if t.data_location != onnx.TensorProto.EXTERNAL}
    assert sum(len(t.raw_data) for t in inline.values()) < INLINE
    assert all(n.startswith("constant_") for n in inline)
    _covered(found, folder)


@pytest.mark.parametrize("name", ["tied", "capped", "encoder", "fused_rows"])
def test_a_tied_table_is_one_initializer(name: str, tmp_path: Path):
    folder = save(name, tmp_path / "w")
    graph = onnx.load(write(model(name), folder, folder).graph, load_external_data=False).graph
    vocab = model(name).stack.dims.vocab
    tables = [t.name for t in graph.initializer if list(t.dims) == [vocab, model(name).stack.dims.dim] and not t.name.startswith("layers")]
    assert tables == ["embed_tokens.weight"]
    users = {node.op_type for node in graph.node if "embed_tokens.weight" in node.input}
    assert users == {"Gather", "Gemm"}


BUILD = """
import sys
from pathlib import Path
from specc.faces.cli import main
spec, weights, out = sys.argv[1:]
assert main(["build", spec, "--to", "onnx", "-o", out, "--weights", weights, "--weights-as", "copy"]) == 0
assert main(["build", spec, "--to", "torch", "-o", out]) == 0
"""


@pytest.mark.parametrize("name", ["moe", "fused_stacked", "sliding"])
def test_two_processes_write_the_same_bytes(name: str, tmp_path: Path):
    folder, spec = save(name, tmp_path / "w"), tmp_path / "probe.specc"
    spec.write_text(SPECS[name])
    for seed in ("0", "4711"):
        command = [sys.executable, "-c", BUILD, str(spec), str(folder), str(tmp_path / seed)]
        subprocess.run(command, check=True, capture_output=True, env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[3])})
    one, two = ({file.name: file.read_bytes() for file in (tmp_path / seed).iterdir()} for seed in ("0", "4711"))
    assert one == two
    assert {"model.onnx", "probe.py"} <= set(one)
    assert str(tmp_path).encode() not in one["model.onnx"]
