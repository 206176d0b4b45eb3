"""The type that a graph computes in: what it follows from, what it says of itself, and how near it comes to float32."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from specc.backends.onnx.write import write
from specc.diagnostics.finding import SpecError
from tests.backends.onnx.models import SPECS, all_of, mixed, model, save, weights
from tests.backends.onnx.running import PRESENT, open_session, run, tokens
from tests.harness import run_torch
from tests.tolerance import TOLERANCE, distance

pytest.importorskip("onnxruntime")
KINDS = onnx.TensorProto
STORED = {"F32": all_of("F32"), "F16": all_of("F16"), "BF16": all_of("BF16"), "mixed": mixed}
NAMED = {"F16": "float16", "BF16": "bfloat16", "mixed": "bfloat16 and float16 and float32"}


def others(own: str) -> list[tuple[str, str]]:
    """A few specs with every other way to store the numbers."""
    return [(name, stored) for name in ("grouped", "encoder", "moe") for stored in STORED if stored != own]


def reference(name: str, stored: str, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the PyTorch file makes of the same numbers in float32."""
    asked = {i.name for part in model(name).stack.embedding.instances for i in part.component.inputs()}
    return run_torch(model(name), weights(name, STORED[stored]), {k: v for k, v in given.items() if k in asked or k == "attention_mask"})


def element_types(graph: Path) -> dict[str, int]:
    loaded = onnx.load(graph, load_external_data=False).graph
    return {v.name: v.type.tensor_type.elem_type for v in loaded.output}


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("name", ["grouped", "moe", "sinks", "alibi", "encoder", "fused_turns", "fused_stacked", "capped", "longrope"])
def test_on_the_cpu_stored_weights_compute_in_float32(name: str, stored: str, tmp_path: Path):
    types = STORED[stored] if stored != "mixed" or "fused" not in name else all_of("F16")
    folder = save(name, tmp_path / "w", types)
    done = write(model(name), folder, folder)
    if types is STORED["F32"]:
        assert done.remarks == ()
    else:
        kind = NAMED[stored] if types is STORED[stored] else NAMED["F16"]
        assert done.remarks == (f"the weights are stored in {kind}; the graph computes in float32 (Cast in front of each)",)
    onnx.checker.check_model(str(done.graph), full_check=True)
    assert set(element_types(done.graph).values()) == {KINDS.FLOAT}
    given = tokens(2, 9)
    found, wanted = run(open_session(done.graph), given), reference(name, stored if types is STORED[stored] else "F16", given)
    for output, expected in wanted.items():
        assert distance(found[output], expected) < TOLERANCE["float32"], output


def test_casts_stand_once_for_each_weight(tmp_path: Path):
    """A tied table is cast for the look-up and the head together, and float32 weights are not cast at all."""
    folder = save("tied", tmp_path / "w", lambda key: "F32" if "norm" in key else "BF16")
    loaded = onnx.load(write(model("tied"), folder, folder).graph, load_external_data=False).graph
    cast = [node.input[0] for node in loaded.node if node.op_type == "Cast" and node.input[0] in {i.name for i in loaded.initializer}]
    expected = {i.name for i in loaded.initializer if i.data_type == KINDS.BFLOAT16}
    assert sorted(cast) == sorted(expected)
    assert "embed_tokens.weight" in expected


@pytest.mark.parametrize(("name", "stored"), [*((name, "F16") for name in SPECS), *others("F16")])
def test_float16_graphs_run_on_the_cpu(name: str, stored: str, tmp_path: Path):
    folder = save(name, tmp_path / "w", STORED[stored])
    done = write(model(name), folder, folder, dtype="fp16")
    assert done.remarks == ()
    onnx.checker.check_model(str(done.graph), full_check=True)
    assert set(element_types(done.graph).values()) == {KINDS.FLOAT16}
    given = tokens(2, 9)
    session = open_session(done.graph)
    found, wanted = run(session, given), reference(name, stored, given)
    for output, expected in wanted.items():
        assert distance(found[output], expected) < TOLERANCE["float16"], output
    if any(output.startswith(PRESENT) for output in found):
        stepped = run(session, given, (4, 3, 1, 1))
        for output, expected in wanted.items():
            assert distance(stepped[output], expected) < TOLERANCE["float16"], output


@pytest.mark.parametrize(("name", "stored"), [*((name, "BF16") for name in SPECS), *others("BF16")])
def test_bfloat16_graphs_are_valid(name: str, stored: str, tmp_path: Path):
    folder = save(name, tmp_path / "w", STORED[stored])
    done = write(model(name), folder, folder, dtype="bf16")
    assert done.remarks == ("the graph computes in bfloat16, for which ONNX Runtime has no kernels on the CPU: it runs on CUDA only",)
    onnx.checker.check_model(str(done.graph), full_check=True)
    assert set(element_types(done.graph).values()) == {KINDS.BFLOAT16}


def test_bfloat16_on_the_cpu_is_refused(tmp_path: Path):
    folder = save("grouped", tmp_path / "w", all_of("BF16"))
    with pytest.raises(SpecError) as caught:
        write(model("grouped"), folder, folder, dtype="bf16", provider="cpu")
    assert str(caught.value) == "SYS008: ONNX Runtime computes nothing in bfloat16 on the CPU"
    assert "widened to float32" in caught.value.diagnostics[0].help
    assert not (folder / "model.onnx").exists()


@pytest.mark.parametrize(
    ("stored", "kind"), [("F32", KINDS.FLOAT), ("F16", KINDS.FLOAT16), ("BF16", KINDS.BFLOAT16), ("mixed", KINDS.FLOAT)]
)
def test_for_cuda_the_graph_computes_in_the_stored_type(stored: str, kind: int, tmp_path: Path):
    folder = save("grouped", tmp_path / "w", STORED[stored])
    done = write(model("grouped"), folder, folder, provider="cuda")
    assert set(element_types(done.graph).values()) == {kind}
    assert len(done.remarks) == (stored == "mixed")
    casts = [n for n in onnx.load(done.graph, load_external_data=False).graph.node if n.op_type == "Cast" and ".weight" in n.input[0]]
    assert bool(casts) == (stored == "mixed")
