"""Embeddings: faults that other projects had, with the right numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from specc.backends.onnx.emit import graphs
from specc.backends.torch.emit import emit
from specc.weights.mapping import Stored
from specc.weights.own import own_layout
from tests.cases.values import family_model
from tests.harness import draw, model_of, run_onnx
from tests.reference.published import load_module

onnx = pytest.importorskip("onnx")
torch = pytest.importorskip("torch")

TEXT = """model probe {{
  vocab = 2  dim = {dim}  depth = 1  context = 4  position = none  mask = causal  embed = tokens(scale: sqrt(dim), round_scale: true)
  ffn = mlp(hidden: 1, activation: relu)  block = bare  head = hidden
}}
block bare(x) {{ final_norm = none  x = x + ffn(x) }}"""


@pytest.mark.parametrize(("dim", "exact", "bf16"), [(3072, 55.4256, 55.5), (2048, 45.2548, 45.25)])
def test_gemma_s_scale_is_rounded_to_the_activations_type(dim: int, exact: float, bf16: float, tmp_path: Path) -> None:
    """gemma-embed-scale-dtype, https://github.com/huggingface/transformers/pull/29402"""
    model = model_of(TEXT.format(dim=dim))
    weights = {key: np.zeros_like(value) for key, value in draw(model).items()}
    weights["embed_tokens.weight"] += np.linspace(1, 2, dim, dtype=np.float32)
    (tmp_path / "generated.py").write_text(emit(model))
    network = load_module(tmp_path / "generated.py").Model().eval()
    network.load_state_dict({key: torch.from_numpy(value) for key, value in weights.items()})
    ids = np.zeros((1, 1), np.int64)
    row = torch.linspace(1, 2, dim)
    with torch.no_grad():
        assert network(torch.from_numpy(ids)).last_hidden_state[0, 0].numpy() == pytest.approx((row * exact).numpy(), rel=2e-6)
        narrow = network.to(torch.bfloat16)(torch.from_numpy(ids)).last_hidden_state[0, 0]
    assert torch.equal(narrow, row.bfloat16() * torch.tensor(bf16, dtype=torch.bfloat16))
    assert not torch.equal(narrow, row.bfloat16() * dim**0.5)  # the product alone rounded
    found = run_onnx(model, weights, {"input_ids": ids, "attention_mask": np.ones_like(ids)})["last_hidden_state"]
    assert found[0, 0] == pytest.approx((row * exact).numpy(), rel=2e-6)


@pytest.mark.parametrize(("dim", "bf16"), [(3072, 55.5), (2048, 45.25)])
def test_the_graph_rounds_the_scale_before_it_multiplies(dim: int, bf16: float) -> None:
    """gemma-embed-scale-dtype, https://github.com/huggingface/transformers/pull/29402: the processor has no bfloat16, so the graph is read"""
    model = model_of(TEXT.format(dim=dim))
    graph = graphs(model, {key: Stored(tensor) for key, tensor in own_layout(model, "BF16")[1].items()}, "bfloat16")["model.onnx"].graph
    makes = {name: node for node in graph.node for name in node.output}
    (product,) = [node for node in graph.node if node.op_type == "Mul"]
    assert [makes[name].op_type for name in product.input] == ["Gather", "Cast"]
    rounded = makes[product.input[1]]
    assert [a.i for a in rounded.attribute] == [onnx.TensorProto.BFLOAT16]
    (scale,) = [i for i in graph.initializer if i.name == rounded.input[0]]
    assert float(torch.tensor(onnx.numpy_helper.to_array(scale)).bfloat16()) == bf16


@pytest.mark.parametrize("kind", ["gemma", "gemma2", "gemma3_text", "vaultgemma"])
def test_every_gemma_rounds_its_scale(kind: str) -> None:
    """gemma-embed-scale-dtype, https://github.com/huggingface/transformers/pull/29402"""
    sizes = {"num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 24}
    config = {"vocab_size": 32, "hidden_size": 48, "num_hidden_layers": 2, **sizes}
    (tokens,) = [i.component for i in family_model({"model_type": kind, **config}).stack.embedding.instances]
    assert (tokens.scale, tokens.round_scale) == (48**0.5, True)
