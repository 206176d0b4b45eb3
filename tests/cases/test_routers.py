"""Routers on equal logits: what the published fault says the choice must be. (Releases of ONNX Runtime rank what is no number differently.)"""

from __future__ import annotations

import numpy as np
import pytest

from specc.backends.onnx import proto
from specc.backends.onnx.builder import Builder
from specc.backends.onnx.initializers import Initializers

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
