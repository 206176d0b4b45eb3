"""Generated code and graphs over checkpoints: names, order, ties, experts, sizes, and paths that lead outside.

Each test goes the way a user goes: a checkpoint in a folder, `import`, `build`, load, run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specc.diagnostics import SpecError
from specc.faces.cli import main
from specc.weights.checkpoint import open_checkpoint
from tests.reference.published import Ours, Reference, call, load_module, session, write
from tests.tolerance import TOLERANCE, distance

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
safetensors = pytest.importorskip("safetensors.torch")

BASE: dict[str, Any] = {
    "vocab_size": 61, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 4096, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
IDS = np.random.default_rng(3).integers(5, 60, (2, 9))
WHOLE = np.ones_like(IDS)
SPEC = """model {name} {{
  vocab = 16  dim = 8  depth = 2
  position = rope(theta: 100)  mask = causal  norm = rms(eps: 1e-5)
  attention = attention(heads: 2)  ffn = gated(hidden: 12, activation: silu)
  block = {block}  head = lm(tied: false)
  layer {layer} {{ }}
  layer other {{ ffn = mlp(hidden: 12, activation: relu) }}
  layers = [{layer}, other]
}}
block {block}({x}) {{
  final_norm = norm
  {h} = norm.{label}({x})
  {x} = {x} + attention({h}) + ffn({h})
}}
"""


def checkpoint(folder: Path, kind: str = "llama", **given: Any) -> Path:
    base = {"n_embd": 16, "n_layer": 2, "n_head": 4, "vocab_size": 61, "n_positions": 4096} if kind == "gpt2" else BASE
    return write(folder / "checkpoint", transformers.AutoConfig.for_model(kind, **base | given), spread=0.2)


def tensors(folder: Path) -> dict[str, Any]:
    return safetensors.load_file(folder / "model.safetensors")


def rewrite(folder: Path, values: dict[str, Any]) -> None:
    safetensors.save_file({n: t.contiguous() for n, t in values.items()}, folder / "model.safetensors", metadata={"format": "pt"})


# ---- names


@pytest.mark.parametrize(
    "word", ["list", "torch", "nn", "self", "forward", "type", "training", "len", "Model", "model", "super", "math", "Tensor", "cache", "x"]
)
def test_names_of_the_spec_shadow_nothing(word: str, tmp_path: Path) -> None:
    """name-shadows-builtin, https://github.com/pytorch/pytorch/pull/43653: parity with neutral names"""
    found = []
    for number, used in enumerate((word, "plain")):
        names = {"name": used, "layer": used, "block": "wired", "x": used, "h": f"{used}_h", "label": used}
        spec, folder = tmp_path / f"{number}.specc", tmp_path / str(number)
        spec.write_text(SPEC.format(**names))
        assert main(["check", str(spec)]) == 0
        assert main(["build", str(spec), "--to", "torch", "-o", str(folder)]) == 0
        network = load_module(folder / f"{used}.py").Model().eval()
        torch.manual_seed(0)
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.copy_(torch.randn(parameter.shape))
            found.append(network(torch.tensor([[1, 2, 3]])).logits.numpy())
    assert np.array_equal(*found)


def test_output_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    """hash-seed-order, https://github.com/microsoft/onnxscript/pull/3041"""
    folder = checkpoint(tmp_path, "qwen3_moe", num_experts=4, num_experts_per_tok=2, moe_intermediate_size=8, head_dim=8)
    found = set()
    for seed in ("0", "1", "2"):
        out = tmp_path / seed
        script = (
            "from specc.faces.cli import main\n"
            f"assert main(['import', {str(folder)!r}, '-o', {str(out / 'm.specc')!r}]) == 0\n"
            f"assert main(['build', {str(out / 'm.specc')!r}, '--to', 'torch', '-o', {str(out)!r}]) == 0\n"
            f"assert main(['build', {str(out / 'm.specc')!r}, '--to', 'onnx', '-o', {str(out)!r}, '--weights', {str(folder)!r}]) == 0\n"
        )
        out.mkdir()
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, env=environment, cwd=Path(__file__).parents[2])
        found.add(tuple((out / name).read_bytes() for name in ("m.specc", "m.py", "model.onnx")))
    assert len(found) == 1


# ---- ties and missing tensors


def test_one_of_two_tied_tensors_is_enough(tmp_path: Path) -> None:
    """tied-key-missing-on-load, https://github.com/huggingface/transformers/issues/38870"""
    folder = checkpoint(tmp_path, tie_word_embeddings=True)
    values = tensors(folder)
    table = values.pop("model.embed_tokens.weight")
    assert "lm_head.weight" not in values
    answers = []
    for number, held in enumerate(({"model.embed_tokens.weight": table}, {"lm_head.weight": table})):
        rewrite(folder, values | held)
        work = tmp_path / str(number)
        work.mkdir()
        ours = Ours(folder, work)
        answers += [ours.torch_full(IDS, WHOLE), ours.onnx_full(IDS, WHOLE)]
    assert np.array_equal(answers[0], answers[2])
    assert np.array_equal(answers[1], answers[3])
    assert distance(answers[0], answers[1]) < TOLERANCE["float32"]


def test_neither_of_two_tied_tensors_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """tied-key-missing-on-load, https://github.com/huggingface/transformers/issues/38870: in both back ends, naming the tensor"""
    folder = checkpoint(tmp_path, tie_word_embeddings=True)
    spec = tmp_path / "m.specc"
    assert main(["import", str(folder), "-o", str(spec)]) == 0
    assert main(["build", str(spec), "--to", "torch", "-o", str(tmp_path)]) == 0
    values = tensors(folder)
    del values["model.embed_tokens.weight"]
    rewrite(folder, values)
    capsys.readouterr()
    assert main(["build", str(spec), "--to", "onnx", "-o", str(tmp_path), "--weights", str(folder)]) == 1
    assert "embed_tokens" in capsys.readouterr().err
    with pytest.raises(Exception, match="embed_tokens"):
        load_module(tmp_path / "m.py").Model.from_checkpoint(folder)


def test_a_tie_that_the_tensors_contradict_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """tied-flag-kept-after-untied-merge, https://github.com/huggingface/transformers/issues/45127: nothing is overwritten in silence"""
    folder = checkpoint(tmp_path, tie_word_embeddings=True)
    values = tensors(folder)
    rewrite(folder, values | {"lm_head.weight": values["model.embed_tokens.weight"] + 1})
    spec = tmp_path / "m.specc"
    status = main(["import", str(folder), "-o", str(spec)])
    status = status or main(["build", str(spec), "--to", "onnx", "-o", str(tmp_path), "--weights", str(folder)])
    assert status == 1
    assert "lm_head" in capsys.readouterr().err


FUSED = """\
    layers[i].ffn.router                    = "layers.{i}.mlp.gate"
    layers[i].ffn.experts[e].gate_up.weight = fused(stacked("layers.{i}.mlp.experts.gate_up_proj"), order: [gate, up])
    layers[i].ffn.experts[e].down.weight    = stacked("layers.{i}.mlp.experts.down_proj")
"""
MIXTRAL = {"kind": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 1}


def test_a_missing_expert_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """expert-keys-missing-only-warns, https://github.com/NVIDIA-NeMo/Megatron-Bridge/pull/4706"""
    folder = checkpoint(tmp_path, **MIXTRAL)
    values = tensors(folder)
    name = "model.layers.1.block_sparse_moe.experts.2.w1.weight"
    del values[name]
    rewrite(folder, values)
    spec = tmp_path / "m.specc"
    assert main(["import", str(folder), "-o", str(spec)]) == 0
    assert main(["build", str(spec), "--to", "onnx", "-o", str(tmp_path), "--weights", str(folder)]) == 1
    assert name.removeprefix("model.") in capsys.readouterr().err


def test_mixtral_s_tensors_as_they_lie_on_disk(tmp_path: Path) -> None:
    """moe-checkpoint-layouts, https://github.com/EfficientMoE/MoE-Infinity/pull/108: w1 is the gate, w3 the other half, w2 the way back"""
    folder = checkpoint(tmp_path, **MIXTRAL)
    shapes = {n.partition("experts.0.")[2]: tuple(t.shape) for n, t in tensors(folder).items() if "layers.0" in n and "experts.0." in n}
    assert shapes == {"w1.weight": (24, 16), "w3.weight": (24, 16), "w2.weight": (16, 24)}
    close_to_reference(folder, tmp_path)


def test_mixtral_s_tensors_as_they_lie_in_memory_are_not_guessed_at(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """moe-checkpoint-layouts, https://github.com/EfficientMoE/MoE-Infinity/pull/108: a state dict of fused experts is refused, naming a tensor"""
    folder, spec = checkpoint(tmp_path, **MIXTRAL), tmp_path / "m.specc"
    assert main(["import", str(folder), "-o", str(spec)]) == 0
    rewrite(folder, transformers.AutoModelForCausalLM.from_pretrained(folder).state_dict())
    assert {tuple(t.shape) for n, t in tensors(folder).items() if n.endswith("experts.gate_up_proj")} == {(4, 48, 16)}
    capsys.readouterr()
    assert main(["build", str(spec), "--to", "onnx", "-o", str(tmp_path / "out"), "--weights", str(folder)]) == 1
    assert "block_sparse_moe.experts.0.w1" in capsys.readouterr().err


def test_mixtral_s_tensors_in_memory_are_read_where_a_spec_says_so(tmp_path: Path) -> None:
    """moe-checkpoint-layouts, https://github.com/EfficientMoE/MoE-Infinity/pull/108: gate_up[e][:24] is the gate, the rest the other half"""
    folder, spec = checkpoint(tmp_path, **MIXTRAL), tmp_path / "fused.specc"
    assert main(["import", str(folder), "-o", str(spec), "--name", "fused"]) == 0
    want = Reference(folder).full(IDS, WHOLE)
    rewrite(folder, transformers.AutoModelForCausalLM.from_pretrained(folder).state_dict())
    lines = [line for line in spec.read_text().splitlines() if "block_sparse_moe" not in line]
    lines[-2:-2] = FUSED.splitlines()
    spec.write_text("\n".join(lines))
    assert main(["build", str(spec), "--to", "torch", "-o", str(tmp_path)]) == 0
    assert main(["build", str(spec), "--to", "onnx", "-o", str(tmp_path), "--weights", str(folder)]) == 0
    network = load_module(tmp_path / "fused.py").Model.from_checkpoint(folder).float().eval()
    with torch.no_grad():
        assert distance(network(torch.from_numpy(IDS)).logits.numpy(), want) < TOLERANCE["float32"]
    past = {f"past_key_values.{i}.{part}": np.zeros((2, 2, 0, 4), np.float32) for i in range(2) for part in ("key", "value")}
    given = {"input_ids": IDS, "attention_mask": WHOLE, "position_ids": np.broadcast_to(np.arange(9), IDS.shape)}
    assert distance(call(session(tmp_path / "model.onnx"), given | past)["logits"], want) < TOLERANCE["float32"]


def close_to_reference(folder: Path, work: Path) -> Ours:
    ours, want = Ours(folder, work), Reference(folder).full(IDS, WHOLE)
    assert distance(ours.torch_full(IDS, WHOLE), want) < TOLERANCE["float32"]
    assert distance(ours.onnx_full(IDS, WHOLE), want) < TOLERANCE["float32"]
    return ours


def test_every_expert_is_in_the_graph(tmp_path: Path) -> None:
    """moe-experts-dropped-by-trace, https://github.com/Tencent/YOLO-Master/pull/74: 4 experts of 3 matrices in each of 2 layers"""
    ours = close_to_reference(checkpoint(tmp_path, **MIXTRAL), tmp_path)
    graph = onnx.load(ours.graph, load_external_data=False).graph
    experts = [i for i in graph.initializer if ".experts." in i.name or "experts" in i.name]
    assert sum(int(np.prod(i.dims)) for i in experts) == 2 * 4 * 3 * 16 * 24


# ---- the graph


def test_a_tied_table_is_stored_once(tmp_path: Path) -> None:
    """tied-weight-duplicated, https://github.com/huggingface/optimum/pull/1326"""
    ours = close_to_reference(checkpoint(tmp_path, tie_word_embeddings=True), tmp_path)
    graph = onnx.load(ours.graph, load_external_data=False).graph
    assert [tuple(i.dims) for i in graph.initializer if 61 in i.dims] == [(61, 16)]


@pytest.mark.parametrize("given", [{}, {"kind": "mistral", "sliding_window": 4}, {"kind": "gpt2"}])
def test_no_mask_or_table_of_the_whole_context_is_stored(given: dict[str, Any], tmp_path: Path) -> None:
    """causal-buffer-in-graph, https://github.com/huggingface/transformers/pull/29241: the parameters and little else, at 4096 positions"""
    folder = checkpoint(tmp_path, **given)
    ours = Ours(folder, tmp_path)
    graph = onnx.load(ours.graph, load_external_data=False).graph
    stored = sum(int(np.prod(i.dims)) * 4 for i in graph.initializer)
    parameters = sum(t.numel() * 4 for t in tensors(folder).values())
    assert stored < parameters + 2000
    assert ours.graph.stat().st_size < 60_000


@pytest.mark.parametrize("batch", [1, 2, 3])
@pytest.mark.parametrize("kept", [0, 1, 5])
def test_every_size_of_batch_and_past(batch: int, kept: int, once: Ours) -> None:
    """size-one-dim-specialised, https://github.com/hqucms/weaver-core/pull/29, and
    zero-length-past, https://github.com/microsoft/onnxruntime/issues/6245: a past of no tokens is an empty tensor"""
    ids = np.resize(IDS, (batch, 9))
    mask = np.ones_like(ids)
    pieces = [9] if kept == 0 else [kept, 9 - kept]
    assert distance(once.onnx_steps(ids, mask, pieces), once.torch_full(ids, mask)) < TOLERANCE["float32"]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Ours:
    work = tmp_path_factory.mktemp("once")
    return Ours(checkpoint(work), work)


def test_inputs_of_the_graph(once: Ours) -> None:
    """size-one-dim-specialised, https://github.com/hqucms/weaver-core/pull/29, dynamic-axes-misspelled-input,
    https://github.com/pytorch/pytorch/issues/59780, and rotary-op-position-dtype, https://github.com/microsoft/onnxruntime/pull/24980"""
    wanted = {i.name: i for i in once.session.get_inputs()}
    for name in ("input_ids", "attention_mask", "position_ids"):
        assert wanted[name].type == "tensor(int64)"
        assert all(isinstance(extent, str) for extent in wanted[name].shape)
    assert [isinstance(extent, str) for extent in wanted["past_key_values.0.key"].shape] == [True, False, True, False]


def test_the_opset_is_one_whose_softmax_takes_one_axis(once: Ours) -> None:
    """softmax-opset-semantics, https://github.com/apache/tvm/issues/19420"""
    model = onnx.load(once.graph, load_external_data=False)
    assert {o.domain: o.version for o in model.opset_import}[""] >= 13


def test_a_cache_that_ran_ahead_of_the_mask(once: Ours) -> None:
    """zero-length-past, https://github.com/microsoft/onnxruntime/issues/6245: the present has the past's length and the new tokens'"""
    out = call(once.session, {"input_ids": IDS, "attention_mask": WHOLE, "position_ids": np.broadcast_to(np.arange(9), IDS.shape)})
    assert out["present.0.key"].shape == (2, 2, 9, 4)


def test_bf16_on_the_cpu_runs_or_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """bf16-no-cpu-kernel, https://github.com/microsoft/onnxruntime/issues/28768: no session that cannot be made"""
    folder, spec = checkpoint(tmp_path), tmp_path / "m.specc"
    assert main(["import", str(folder), "-o", str(spec)]) == 0
    status = main(
        ["build", str(spec), "--to", "onnx", "-o", str(tmp_path), "--weights", str(folder), "--dtype", "bf16", "--provider", "cpu"]
    )
    if status == 0:
        session(tmp_path / "model.onnx")
    else:
        assert "error " in capsys.readouterr().err


# ---- paths


@pytest.mark.parametrize(
    "name", ["../secret.safetensors", "/etc/passwd", "sub/model.safetensors", "..\\secret.safetensors", "C:secret.safetensors"]
)
def test_an_index_names_files_of_its_own_folder_only(name: str, tmp_path: Path) -> None:
    """external-data-path-escape, https://github.com/onnx/onnx/pull/7040: refused before anything is opened"""
    folder = checkpoint(tmp_path)
    (tmp_path / "secret.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    (folder / "model.safetensors").unlink()
    index = {"weight_map": {"model.norm.weight": name}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(SpecError, match="WGT006"):
        open_checkpoint(folder)


def test_a_short_or_missing_file_is_an_error(tmp_path: Path) -> None:
    """external-data-path-escape, https://github.com/onnx/onnx/pull/7040"""
    folder = checkpoint(tmp_path)
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[:-8])
    with pytest.raises(SpecError, match="WGT"):
        open_checkpoint(folder)
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"model.norm.weight": "gone.safetensors"}}))
    with pytest.raises(SpecError, match="WGT007"):
        open_checkpoint(folder)


def test_a_link_to_what_is_no_checkpoint_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """external-data-path-escape, https://github.com/onnx/onnx/pull/7040: links are followed, as in a Hub cache, and what they lead to is not shown"""
    folder, spec = checkpoint(tmp_path), tmp_path / "m.specc"
    assert main(["import", str(folder), "-o", str(spec)]) == 0
    (tmp_path / "secret.bin").write_bytes(b"secret: 1234567890 and nothing else")
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to("../secret.bin")
    with pytest.raises(SpecError, match="WGT"):
        open_checkpoint(folder)
    capsys.readouterr()
    assert main(["build", str(spec), "--to", "onnx", "-o", str(tmp_path / "out"), "--weights", str(folder)]) == 1
    assert "1234567890" not in "".join(capsys.readouterr())
    assert not (tmp_path / "out" / "model.onnx").exists()


def test_the_graph_names_a_file_beside_it(once: Ours) -> None:
    """external-data-path-escape, https://github.com/onnx/onnx/pull/7040: no directories, no way up"""
    graph = onnx.load(once.graph, load_external_data=False).graph
    places = {entry.value for i in graph.initializer for entry in i.external_data if entry.key == "location"}
    assert places
    assert all(place == Path(place).name for place in places)


def test_weights_that_begin_on_no_page_are_read_in_place(tmp_path: Path) -> None:
    """external-data-unaligned, https://github.com/onnx/onnx/issues/6226: a safetensors file has no gaps, so offsets are no multiples of 4096

    The graph names the bytes where they lie, and the numbers are right: two tables of 288,000 bytes, norms of 1,200.
    """
    folder = checkpoint(tmp_path, vocab_size=240, hidden_size=300, head_dim=4, intermediate_size=8, tie_word_embeddings=False)
    ours = Ours(folder, tmp_path)
    graph = onnx.load(ours.graph, load_external_data=False).graph
    entries = [{e.key: e.value for e in i.external_data} for i in graph.initializer if i.external_data]
    held = open_checkpoint(folder).tensors.values()
    assert {(int(e["offset"]), int(e["length"])) for e in entries} == {(t.offset, t.length) for t in held}
    assert any(int(e["offset"]) % 4096 for e in entries if int(e["length"]) == 288_000)
    assert distance(ours.onnx_full(IDS, WHOLE), Reference(folder).full(IDS, WHOLE)) < TOLERANCE["float32"]
