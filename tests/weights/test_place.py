"""Names, alternatives, roots and left-overs: which tensor of a checkpoint each parameter is."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from specc import weights
from specc.ir.weights import Fused, Transpose, WeightMap
from specc.weights.arrays import load
from specc.weights.checkpoint import Checkpoint, open_checkpoint
from specc.weights.mapping import Placement, place
from specc.weights.own import layout
from tests.weights.files import Listed, checkpoint, fused, numbers, refused, refused_all, save, tensor, transpose, weight_map

SHAPES = {"embed.weight": (6, 4), "layers.0.up.weight": (3, 4), "layers.1.up.weight": (3, 4)}
RULES = {"embed": "wte", "layers.{i}.up": "h.{i}.fc"}


def placed(
    folder: Path, arrays: Mapping[str, np.ndarray], *maps: WeightMap, shapes: object = SHAPES, optional: tuple[str, ...] = ()
) -> Placement:
    return place(Listed(shapes, maps, optional), open_checkpoint(checkpoint(folder, arrays)))


def published(root: str = "", **more: np.ndarray) -> dict[str, np.ndarray]:
    names = {"wte.weight": (6, 4), "h.0.fc.weight": (3, 4), "h.1.fc.weight": (3, 4)}
    return {root + name: numbers(*shape, seed=i) for i, (name, shape) in enumerate(names.items())}


def named(placement: Placement) -> dict[str, str]:
    return {key: stored.tensor.name for key, stored in placement.stored.items()}


PLAIN = {"embed.weight": "wte.weight", "layers.0.up.weight": "h.0.fc.weight", "layers.1.up.weight": "h.1.fc.weight"}


def test_own_layout(tmp_path: Path) -> None:
    arrays = {key: numbers(*shape) for key, shape in SHAPES.items()}
    found = placed(tmp_path, arrays, weight_map(RULES))
    assert found.layout == "own"
    assert named(found) == {key: key for key in SHAPES}
    assert list(found.names.values()) == ["model.safetensors"]
    with refused("WGT010", "specc's own layout", "`extra`"):
        placed(tmp_path, {**arrays, "extra": numbers(1)}, weight_map(RULES))
    with refused("WGT011", "`embed.weight`"):
        placed(tmp_path, {key: arrays[key] for key in list(arrays)[1:]})


def test_own_layout_without_an_optional_parameter(tmp_path: Path) -> None:
    shapes = {"a": (2,), "b": (3,)}
    found = placed(tmp_path, {"a": numbers(2)}, shapes=shapes, optional=("b",))
    assert (found.layout, list(found.stored)) == ("own", ["a"])


@pytest.mark.parametrize("root", ["transformer.", "", "model."])
def test_roots_are_alternatives(tmp_path: Path, root: str) -> None:
    found = placed(tmp_path, published(root), weight_map(RULES, root=("transformer.", "model.", "")))
    assert named(found) == {key: root + name for key, name in PLAIN.items()}
    assert found.layout == "hf"


def test_a_name_may_stand_outside_the_root(tmp_path: Path) -> None:
    shapes = {**SHAPES, "head.weight": (6, 4)}
    arrays = {**published("transformer."), "lm_head.weight": numbers(6, 4)}
    found = placed(tmp_path, arrays, weight_map({**RULES, "head": "lm_head"}, root=("transformer.",)), shapes=shapes)
    assert found.stored["head.weight"].tensor.name == "lm_head.weight"


def test_a_tensor_under_root_and_bare_is_one_too_many(tmp_path: Path) -> None:
    with refused("WGT010", "`wte.weight`"):
        placed(tmp_path, {**published("t."), "wte.weight": numbers(6, 4)}, weight_map(RULES, root=("t.",)))


def test_the_first_map_that_fits(tmp_path: Path) -> None:
    other = weight_map({"embed": "word"}, name="other")
    assert placed(tmp_path, published(), other, weight_map(RULES)).layout == "hf"


def test_no_map_fits(tmp_path: Path) -> None:
    with refused("WGT009", "neither specc's own nor `weights hf`", "`x`"):
        placed(tmp_path, {"x": numbers(1)}, weight_map(RULES))
    with refused("WGT009", "holds no tensor"):
        placed(tmp_path, {}, weight_map(RULES))


def test_the_first_alternative_present(tmp_path: Path) -> None:
    rules = {**RULES, "embed": tensor("word", "wte")}
    assert placed(tmp_path, published(), weight_map(rules)).stored["embed.weight"].tensor.name == "wte.weight"


def test_equal_copies_pass_and_others_do_not(tmp_path: Path) -> None:
    rules = weight_map({**RULES, "embed": tensor("wte", "lm_head")})
    arrays = published()
    found = placed(tmp_path, {**arrays, "lm_head.weight": arrays["wte.weight"]}, rules)
    assert found.stored["embed.weight"].tensor.name == "wte.weight"
    other = arrays["wte.weight"].copy()
    other[-1, -1] = np.nextafter(other[-1, -1], np.float32(9))
    for copy in (other, arrays["wte.weight"].astype(np.float64), arrays["wte.weight"].reshape(4, 6)):
        with refused("WGT013", "`lm_head.weight` (of `wte.weight`)"):
            placed(tmp_path, {**arrays, "lm_head.weight": copy}, rules)


def test_a_copy_is_compared_for_each_parameter_that_names_it(tmp_path: Path) -> None:
    shapes = {"a.weight": (2, 2), "b.weight": (2, 2)}
    rules = weight_map({"a": "x", "b": tensor("y", "x")})
    with refused("WGT013", "`x.weight` (of `y.weight`)"):
        placed(tmp_path, {"x.weight": numbers(2, 2, seed=1), "y.weight": numbers(2, 2, seed=2)}, rules, shapes=shapes)


@pytest.mark.parametrize("place_of_change", [None, 0, 290_000, -1])
def test_copies_in_two_shards(tmp_path: Path, place_of_change: int | None) -> None:
    """More than a mebibyte, so that the second piece counts too; the copies lie at different offsets."""
    big = numbers(300_000)
    copy = big.copy()
    if place_of_change is not None:
        copy[place_of_change] += 1
    save(tmp_path / "1.safetensors", {"wte.weight": big})
    save(tmp_path / "2.safetensors", {"pad": numbers(3), "lm_head.weight": copy})
    places = {"wte.weight": "1.safetensors", "lm_head.weight": "2.safetensors", "pad": "2.safetensors"}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    rules = weight_map({"embed": tensor("wte", "lm_head")}, ignore=("pad",))
    model = Listed({"embed.weight": (300_000,)}, (rules,))
    if place_of_change is None:
        assert [file.name for file in place(model, open_checkpoint(tmp_path)).files] == ["1.safetensors"]
    else:
        with refused("WGT013", "`lm_head.weight` (of `wte.weight`)"):
            place(model, open_checkpoint(tmp_path))


def test_memory_stays_small(tmp_path: Path) -> None:
    big = numbers(4_000_000)
    model = Listed({"embed.weight": (4_000_000,)}, (weight_map({"embed": tensor("wte", "lm_head")}),))
    opened = open_checkpoint(checkpoint(tmp_path, {"wte.weight": big, "lm_head.weight": big}))
    tracemalloc.start()
    place(model, opened)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20 < big.nbytes


def test_neither_numpy_nor_torch_nor_onnx_is_imported_before_it_is_needed() -> None:
    modules = ", ".join(f"specc.weights.{path.stem}" for path in Path(weights.__file__).parent.glob("*.py") if path.stem != "__init__")
    found = f"import sys, {modules}; print(sorted({{'numpy', 'torch', 'onnx', 'safetensors', 'specc.resolve'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", found], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_the_rule_that_names_most_wins(tmp_path: Path) -> None:
    rules = {
        "layers.{i}.norm": "h.{i}.ln",
        "layers.{i}.norm.weight": tensor("h.{i}.ln.weight", "h.{i}.ln.gamma"),
        "layers.{i}.norm.bias": "h.{i}.ln.beta",
    }
    shapes = {"layers.0.norm.weight": (3,), "layers.0.norm.bias": (3,), "layers.0.norm.inner.weight": (2,)}
    arrays = {"h.0.ln.gamma": numbers(3), "h.0.ln.beta": numbers(3, seed=1), "h.0.ln.inner.weight": numbers(2)}
    found = placed(tmp_path, arrays, weight_map(rules), shapes=shapes)
    assert named(found) == dict(zip(shapes, arrays, strict=True))


def test_the_rule_that_names_most_wins_over_a_present_tensor(tmp_path: Path) -> None:
    rules = weight_map({"n": "a", "n.weight": "b"})
    with refused("WGT010", "1 tensor", "`a.weight`"):
        placed(tmp_path, {"a.weight": numbers(2), "b": numbers(2)}, rules, shapes={"n.weight": (2,)})


def test_a_placeholder_stands_for_one_number(tmp_path: Path) -> None:
    shapes = {"layers.1.part.1.weight": (2,), "layers.1.part.2.weight": (2,)}
    rules = weight_map({"layers.{i}.part.{i}": "x.{i}"})
    with refused("WGT011", "1 parameter", "`layers.1.part.2.weight` (no rule names it)"):
        placed(tmp_path, {"x.1.weight": numbers(2)}, rules, shapes=shapes)


def test_several_placeholders(tmp_path: Path) -> None:
    shapes = {f"layers.{i}.ffn.experts.{e}.up.weight": (2, 3) for i in range(2) for e in (0, 11)}
    arrays = {f"b.{e}.l.{i}.w3.weight": numbers(2, 3, seed=i * 20 + e) for i in range(2) for e in (0, 11)}
    found = placed(tmp_path, arrays, weight_map({"layers.{i}.ffn.experts.{e}.up": "b.{e}.l.{i}.w3"}), shapes=shapes)
    assert named(found) == dict(zip(shapes, arrays, strict=True))


def test_a_label_is_no_beginning_of_a_longer_label(tmp_path: Path) -> None:
    shapes = {"up.weight": (2,), "up_gate.weight": (2,)}
    with refused("WGT011", "`up_gate.weight` (no rule names it)"):
        placed(tmp_path, {"w.weight": numbers(2)}, weight_map({"up": "w"}), shapes=shapes)


IGNORED = ["h.0.attn.bias", "h.12.attn.bias", "cls.a.b"]


def test_ignored_tensors_with_and_without_root(tmp_path: Path) -> None:
    for root in ("t.", ""):
        more = {root + name: numbers(1, dtype="int64") for name in IGNORED}
        rules = weight_map(RULES, root=("t.", ""), ignore=("h.{i}.attn.bias", "cls.*"))
        assert named(placed(tmp_path, {**published(root), **more}, rules)) == {key: root + name for key, name in PLAIN.items()}
    for name in ("h.x.attn.bias", "h.0xattn.bias", "h.0.attn.bias2", "xcls.a", "a.h.0.attn.bias"):
        with refused("WGT010", f"`{name}`"):
            placed(tmp_path, {**published(), name: numbers(1)}, rules)


def test_everything_is_reported_at_once_and_long_lists_are_cut(tmp_path: Path) -> None:
    arrays = {**published(), **{f"x.{i:02}": numbers(1) for i in range(13)}}
    arrays["wte.weight"] = numbers(4, 6)
    del arrays["h.1.fc.weight"]
    with refused_all("WGT011", "WGT010", "WGT012") as found:
        placed(tmp_path, arrays, weight_map(RULES))
    text = str(found.value)
    assert "1 parameter of the model without a tensor: `layers.1.up.weight` (looked for `h.1.fc.weight`)" in text
    assert "13 tensors of the checkpoint that the model does not use: `x.00`" in text
    assert "`x.09` and 3 more" in text
    assert "`x.10`" not in text
    assert "`embed.weight`: the model gives [6, 4], the tensor `wte.weight` has [4, 6]" in text


def test_transposed_matrices_and_plain_vectors(tmp_path: Path) -> None:
    shapes = {"up.weight": (3, 4), "up.bias": (3,)}
    arrays = {"fc.weight": numbers(4, 3), "fc.bias": numbers(3)}
    found = placed(tmp_path, arrays, weight_map({"up": transpose("fc")}), shapes=shapes)
    assert np.array_equal(load(found.stored["up.weight"]), arrays["fc.weight"].T)
    assert np.array_equal(load(found.stored["up.bias"]), arrays["fc.bias"])
    assert found.stored["up.weight"].byte_range() is None
    assert found.stored["up.bias"].byte_range() == (found.stored["up.bias"].tensor.offset, 12)
    with refused("WGT012", "the model gives [4, 3]", "has [3, 4]"):
        placed(tmp_path, {**arrays, "fc.weight": numbers(3, 4)}, weight_map({"up": transpose("fc")}), shapes=shapes)


def test_numbers_that_are_no_floats(tmp_path: Path) -> None:
    with refused("WGT016", "`wte.weight` (I8)"):
        placed(tmp_path, {**published(), "wte.weight": np.zeros((6, 4), np.int8)}, weight_map(RULES))


@pytest.mark.parametrize(
    "source",
    [
        Transpose(of=transpose("a")),
        Transpose(of=fused("a", "q k")),
        Fused(of=fused("a", "q k"), order=("q", "k")),
        Fused(of=Transpose(of=transpose("a")), order=("q", "k")),
    ],
)
def test_rules_that_cannot_be_undone(tmp_path: Path, source: Transpose | Fused) -> None:
    with refused("WGT015", "`qk`"):
        placed(tmp_path, {"a.weight": numbers(2, 2)}, weight_map({"qk": source}), shapes={"q.weight": (1, 2), "k.weight": (1, 2)})


def test_eighty_layers_are_placed_quickly() -> None:
    parts = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "o_proj", "gate": "g", "up": "u", "down": "d", "n1": "l1", "n2": "l2"}
    shapes = {f"layers.{i}.{part}.weight": (8, 8) for i in range(80) for part in parts}
    rules = weight_map({f"layers.{{i}}.{part}": f"model.layers.{{i}}.{name}" for part, name in parts.items()})
    file = Path("model.safetensors")
    _, infos = layout(((f"model.layers.{i}.{name}.weight", "F32", (8, 8)) for i in range(80) for name in parts.values()), file)
    model, opened, spent = Listed(shapes, (rules,)), Checkpoint(Path(), (file,), infos), []
    for _ in range(5):
        begin = time.perf_counter()
        assert len(place(model, opened).stored) == 720
        spent.append(time.perf_counter() - begin)
    assert min(spent) < 0.05
