"""Routers on equal logits, and where a weight stands: what the published fault says the choice must be. (Releases of ONNX Runtime rank what is no number differently.)"""

from __future__ import annotations

import numpy as np
import pytest

from specc.backends.onnx import proto
from specc.backends.onnx.builder import Builder
from specc.backends.onnx.initializers import Initializers
from specc.ir.model import Model
from tests.harness import draw, inputs_of, model_of, run_onnx, run_torch
from tests.tolerance import TOLERANCE, distance

onnxruntime = pytest.importorskip("onnxruntime")


def test_the_best_of_equal_ones_is_the_first() -> None:
    """topk-ties, https://github.com/sgl-project/sglang/pull/35160"""
    g = Builder(Initializers({}))
    _, places = g.best("x", 2)
    made = proto.model(
        "best", "", g.nodes, g.weights.made.values(), [proto.value_info("x", "float32", (1, 5))], [proto.value_info(places, "int64", (1, 2))], {}
    )
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"x": np.array([[1, 3, 3, 3, 2]], np.float32)})
    assert found.tolist() == [[1, 2]]


TEXT = """model probe {
  vocab = 8  dim = 8  depth = 1  context = 16  position = rope(theta: 100)  mask = causal  norm = rms(eps: 1e-5)
  attention = attention(heads: 2)  block = pre_norm  head = lm(tied: false)
  ffn = moe(experts: 4, top_k: 2, expert: EXPERT, router: sigmoid(bias_correction: true, weight_on: SIDE))
}"""


def probe(expert: str, side: str) -> Model:
    return model_of(TEXT.replace("EXPERT", expert).replace("SIDE", side))


@pytest.mark.parametrize(
    ("expert", "alike"),
    [
        ("mlp(hidden: 4, activation: relu)", True),
        ("mlp(hidden: 4, activation: relu, bias: true)", False),
        ("mlp(hidden: 4, activation: relu2)", False),
        ("mlp(hidden: 4, activation: gelu)", False),
        ("gated(hidden: 4, activation: relu)", False),
    ],
)
def test_where_the_weight_stands_means_nothing_to_an_expert_that_lets_it_through(expert: str, alike: bool) -> None:
    """A positive factor before the expert or behind it: the same numbers, and then no change that a proof could see."""
    before, behind = probe(expert, "input"), probe(expert, "output")
    weights, inputs = draw(behind), inputs_of(behind, padded=False)
    for run in (run_torch, run_onnx):
        gap = distance(run(before, weights, inputs)["logits"], run(behind, weights, inputs)["logits"])
        assert (gap < TOLERANCE["float32"]) if alike else (gap > 1e-3)
    assert ("router.weight_on" in behind.stack.layers[0].instance("ffn").component.inert(None)) == alike
