"""Fused tensors: plain, in groups, transposed, with biases; and what cannot be cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from specc.ir.weights import Fused
from specc.weights.arrays import load
from specc.weights.checkpoint import open_checkpoint
from specc.weights.mapping import Placement, place
from tests.weights.files import Listed, checkpoint, fused, numbers, refused, refused_all, tensor, transpose, weight_map

ROWS = {"q": 8, "k": 4, "v": 4}
SHAPES = {
    f"layers.0.attention.{part}.{kind}": (rows, 6)[:rank] for part, rows in ROWS.items() for kind, rank in (("weight", 2), ("bias", 1))
}


def placed(folder: Path, source: Fused, arrays: dict[str, np.ndarray], shapes: object = SHAPES) -> Placement:
    model = Listed(shapes, (weight_map({"layers.{i}.attention.qkv": source}),))
    return place(model, open_checkpoint(checkpoint(folder, arrays)))


def part(found: Placement, name: str, kind: str = "weight") -> np.ndarray:
    return load(found.stored[f"layers.0.attention.{name}.{kind}"])


def test_one_after_another(tmp_path: Path) -> None:
    weight, bias = numbers(16, 6), numbers(16)
    found = placed(tmp_path, fused("h.{i}.qkv", "q k v"), {"h.0.qkv.weight": weight, "h.0.qkv.bias": bias})
    content = (tmp_path / "model.safetensors").read_bytes()
    for name, first, rows in (("q", 0, 8), ("k", 8, 4), ("v", 12, 4)):
        assert np.array_equal(part(found, name), weight[first : first + rows])
        assert np.array_equal(part(found, name, "bias"), bias[first : first + rows])
        stored = found.stored[f"layers.0.attention.{name}.weight"]
        assert stored.row_range() == (first, rows)
        offset, length = stored.byte_range()
        assert content[offset : offset + length] == weight[first : first + rows].tobytes()
        assert (stored.shape, stored.length) == ((rows, 6), rows * 24)


def test_the_order_is_the_tensor_s(tmp_path: Path) -> None:
    weight, bias = numbers(16, 6), numbers(16)
    found = placed(tmp_path, fused("h.{i}.qkv", "v q k"), {"h.0.qkv.weight": weight, "h.0.qkv.bias": bias})
    assert np.array_equal(part(found, "q"), weight[4:12])
    assert np.array_equal(part(found, "v", "bias"), bias[:4])


def test_in_turns(tmp_path: Path) -> None:
    """Falcon's rows: for each of 2 groups 4 rows of q, 2 of k, 2 of v."""
    weight, bias = numbers(16, 6), numbers(16)
    found = placed(tmp_path, fused("h.{i}.qkv", "q k v", 2), {"h.0.qkv.weight": weight, "h.0.qkv.bias": bias})
    for name, rows in (("q", [0, 1, 2, 3, 8, 9, 10, 11]), ("k", [4, 5, 12, 13]), ("v", [6, 7, 14, 15])):
        assert np.array_equal(part(found, name), weight[rows])
        assert np.array_equal(part(found, name, "bias"), bias[rows])
        stored = found.stored[f"layers.0.attention.{name}.weight"]
        assert stored.row_range() is None
        assert stored.byte_range() is None


@pytest.mark.parametrize("groups", [1, 2])
def test_transposed_inside(tmp_path: Path, groups: int) -> None:
    """GPT-2's Conv1D keeps [in, out]; its bias is a plain vector."""
    weight, bias = numbers(6, 16), numbers(16)
    found = placed(tmp_path, fused(transpose("h.{i}.qkv"), "q k v", groups), {"h.0.qkv.weight": weight, "h.0.qkv.bias": bias})
    rows = {1: {"q": range(8), "k": range(8, 12)}, 2: {"q": [0, 1, 2, 3, 8, 9, 10, 11], "k": [4, 5, 12, 13]}}[groups]
    for name, own in rows.items():
        assert np.array_equal(part(found, name), weight.T[list(own)])
        assert np.array_equal(part(found, name, "bias"), bias[list(own)])
        assert found.stored[f"layers.0.attention.{name}.weight"].row_range() is None
    q_bias = found.stored["layers.0.attention.q.bias"]
    assert q_bias.row_range() == ((0, 8) if groups == 1 else None)
    with refused("WGT012", "the model gives [6, 16]", "has [16, 6]"):
        wrong = {"h.0.qkv.weight": weight.T.copy(), "h.0.qkv.bias": bias}
        placed(tmp_path, fused(transpose("h.{i}.qkv"), "q k v", groups), wrong)


def test_a_label_at_the_top(tmp_path: Path) -> None:
    weight = numbers(5, 2)
    model = Listed({"a.weight": (2, 2), "b.weight": (3, 2)}, (weight_map({"ab": fused("x", "a b")}),))
    found = place(model, open_checkpoint(checkpoint(tmp_path, {"x.weight": weight})))
    assert np.array_equal(load(found.stored["b.weight"]), weight[2:])


def test_a_part_without_its_bias(tmp_path: Path) -> None:
    shapes = {key: shape for key, shape in SHAPES.items() if key != "layers.0.attention.k.bias"}
    with refused("WGT014", "`h.0.qkv.bias`: the model has no `layers.0.attention.k.bias`"):
        placed(tmp_path, fused("h.{i}.qkv", "q k v"), {"h.0.qkv.weight": numbers(16, 6), "h.0.qkv.bias": numbers(16)}, shapes)


def test_no_bias_at_all(tmp_path: Path) -> None:
    shapes = {key: shape for key, shape in SHAPES.items() if key.endswith("weight")}
    assert len(placed(tmp_path, fused("h.{i}.qkv", "q k v"), {"h.0.qkv.weight": numbers(16, 6)}, shapes).stored) == 3
    with refused("WGT010", "`h.0.qkv.bias`"):
        placed(tmp_path, fused("h.{i}.qkv", "q k v"), {"h.0.qkv.weight": numbers(16, 6), "h.0.qkv.bias": numbers(16)}, shapes)


def test_groups_that_do_not_divide(tmp_path: Path) -> None:
    arrays = {"h.0.qkv.weight": numbers(16, 6), "h.0.qkv.bias": numbers(16)}
    with refused("WGT014", "3 groups do not divide the 8 rows of `layers.0.attention.q.weight`"):
        placed(tmp_path, fused("h.{i}.qkv", "q k v", 3), arrays)


def test_parts_of_different_width(tmp_path: Path) -> None:
    shapes = {**SHAPES, "layers.0.attention.v.weight": (4, 5)}
    with refused("WGT014", "`layers.0.attention.v.weight` is [4, 5], and its siblings are [rows, 6]"):
        placed(tmp_path, fused("h.{i}.qkv", "q k v"), {"h.0.qkv.weight": numbers(16, 6), "h.0.qkv.bias": numbers(16)}, shapes)


def test_rows_must_sum_up(tmp_path: Path) -> None:
    with refused_all("WGT012") as found:
        placed(tmp_path, fused("h.{i}.qkv", "q k v"), {"h.0.qkv.weight": numbers(15, 6), "h.0.qkv.bias": numbers(16)})
    assert "the model gives [16, 6], the tensor `h.0.qkv.weight` has [15, 6]" in str(found.value)


def test_fused_in_one_checkpoint_and_apart_in_another(tmp_path: Path) -> None:
    shapes = {"q.weight": (2, 3), "k.weight": (1, 3)}
    rules = weight_map({"qk": fused("both", "q k"), "q": "one", "k": "two"})
    whole = numbers(3, 3)
    for arrays in ({"both.weight": whole}, {"one.weight": whole[:2], "two.weight": whole[2:]}):
        found = place(Listed(shapes, (rules,)), open_checkpoint(checkpoint(tmp_path, arrays)))
        assert np.array_equal(load(found.stored["q.weight"]), whole[:2])
        assert np.array_equal(load(found.stored["k.weight"]), whole[2:])


def test_copies_of_a_fused_tensor(tmp_path: Path) -> None:
    source = Fused(of=tensor("h.{i}.qkv", "copy"), order=("q", "k", "v"))
    weight, bias = numbers(16, 6), numbers(16)
    arrays = {"h.0.qkv.weight": weight, "h.0.qkv.bias": bias, "copy.bias": bias}
    assert len(placed(tmp_path, source, arrays).stored) == 6
    with refused("WGT013", "1 tensor that should repeat", "`copy.bias` (of `h.0.qkv.bias`)"):
        placed(tmp_path, source, {**arrays, "copy.bias": bias + 1})
