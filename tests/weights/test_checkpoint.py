"""Which files make a checkpoint, and which are refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from specc.weights.checkpoint import open_checkpoint
from tests.weights.files import checkpoint, numbers, raw, refused, save

INDEX = "model.safetensors.index.json"
ONE, TWO = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"


def sharded(folder: Path, places: object, one: tuple[str, ...] = ("a",), two: tuple[str, ...] = ("b",)) -> Path:
    save(folder / ONE, {name: numbers(2) for name in one})
    save(folder / TWO, {name: numbers(3) for name in two})
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": places}))
    return folder


def test_one_file(tmp_path: Path) -> None:
    save(tmp_path / "other.safetensors", {"x": numbers(1)})
    save(tmp_path / "weights.safetensors", {"y": numbers(1)})
    found = open_checkpoint(checkpoint(tmp_path, {"a": numbers(2)}))
    assert list(found.tensors) == ["a"]
    assert found.files == ((tmp_path / "model.safetensors").resolve(),)
    assert list(found.names.values()) == ["model.safetensors"]


def test_specc_own_file(tmp_path: Path) -> None:
    save(tmp_path / "weights.safetensors", {"y": numbers(1)})
    assert list(open_checkpoint(tmp_path).tensors) == ["y"]


def test_the_files_of_the_index_and_no_others(tmp_path: Path) -> None:
    save(tmp_path / "model-00003-of-00003.safetensors", {"c": numbers(1)})
    found = open_checkpoint(sharded(tmp_path, {"a": ONE, "b": TWO}))
    assert {name: t.file.name for name, t in found.tensors.items()} == {"a": ONE, "b": TWO}
    assert [file.name for file in found.files] == [ONE, TWO]


def test_a_cache_of_links_is_followed(tmp_path: Path) -> None:
    save(tmp_path / "blobs" / "1f3", {"a": numbers(2)})
    snapshot = tmp_path / "snapshots" / "rev"
    snapshot.mkdir(parents=True)
    (snapshot / "model.safetensors").symlink_to("../../blobs/1f3")
    found = open_checkpoint(snapshot)
    assert found.tensors["a"].file == (tmp_path / "blobs" / "1f3").resolve()
    assert found.names == {(tmp_path / "blobs" / "1f3").resolve(): "model.safetensors"}


@pytest.mark.parametrize(
    "name",
    [
        "../x.safetensors",
        "/etc/x.safetensors",
        "sub/x.safetensors",
        "..\\x.safetensors",
        "C:x.safetensors",
        "..",
        "",
        "x.bin",
        "a\0.safetensors",
    ],
)
def test_an_index_names_plain_files_only(tmp_path: Path, name: str) -> None:
    with refused("WGT006", "not the plain name"):
        open_checkpoint(sharded(tmp_path, {"a": ONE, "b": name}))


@pytest.mark.parametrize("places", [None, [], {}, {"a": 1}, {"a": None}, "x"])
def test_an_index_without_a_map(tmp_path: Path, places: object) -> None:
    with refused("WGT005", INDEX):
        open_checkpoint(sharded(tmp_path, places))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"weight_map": {"a": "x.safetensors", "a": "y.safetensors"}}', "[" * 100_000])
def test_an_index_that_is_no_json_object(tmp_path: Path, text: str) -> None:
    (tmp_path / INDEX).write_text(text)
    with refused("WGT005", INDEX):
        open_checkpoint(tmp_path)


def test_index_and_files_must_agree(tmp_path: Path) -> None:
    with refused("WGT007", f"`b` in {ONE}"):
        open_checkpoint(sharded(tmp_path / "1", {"a": ONE, "b": ONE, "c": TWO}, ("a",), ("b", "c")))
    with refused("WGT007", f"`z` in {TWO}"):
        open_checkpoint(sharded(tmp_path / "2", {"a": ONE, "z": TWO}))
    with refused("WGT007", "`a` stands in two files"):
        open_checkpoint(sharded(tmp_path / "3", {"a": ONE, "b": TWO}, ("a",), ("a", "b")))
    with refused("WGT007", "does not have it"):
        open_checkpoint(sharded(tmp_path / "4", {"a": ONE, "b": "model-00009-of-00009.safetensors"}))


def test_a_tensor_that_the_index_forgot_is_not_lost(tmp_path: Path) -> None:
    assert list(open_checkpoint(sharded(tmp_path, {"a": ONE, "b": TWO}, two=("b", "c"))).tensors) == ["a", "b", "c"]


def test_pickles_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with refused("WGT003", "pytorch_model.bin is a pickle"):
        open_checkpoint(tmp_path)
    (tmp_path / "consolidated.00.pth").write_bytes(b"")
    with refused("WGT003", "consolidated.00.pth, pytorch_model.bin are pickles"):
        open_checkpoint(tmp_path)
    assert list(open_checkpoint(checkpoint(tmp_path, {"a": numbers(1)})).tensors) == ["a"]


def test_nothing_there(tmp_path: Path) -> None:
    with refused("WGT002", "neither"):
        open_checkpoint(tmp_path)
    (tmp_path / "model.gguf").write_bytes(b"")
    with refused("WGT002", "it holds model.gguf"):
        open_checkpoint(tmp_path)
    with refused("WGT002", "not a folder"):
        open_checkpoint(tmp_path / "model.gguf")


def test_a_malformed_file_is_found_through_the_folder(tmp_path: Path) -> None:
    raw(tmp_path / "model.safetensors", b"{")
    with refused("WGT004", "model.safetensors"):
        open_checkpoint(tmp_path)


BYTES = np.zeros(4, np.uint8)


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("l.qweight", "l.qzeros", "l.scales", "l.g_idx"), "GPTQ (tensor `l.g_idx`)"),
        (("l.qweight", "l.qzeros", "l.scales"), "GPTQ or AWQ"),
        (("l.weight", "l.weight.absmax"), "bitsandbytes 4-bit"),
        (("l.weight", "l.weight.quant_state.bitsandbytes__nf4"), "bitsandbytes 4-bit"),
        (("l.weight", "l.SCB"), "bitsandbytes 8-bit"),
        (("l.up_blocks", "l.up_scales"), "mxfp4"),
        (("l.weight", "l.weight_scale_inv"), "fp8 with block scales"),
        (("l.weight_packed", "l.weight_shape"), "compressed-tensors"),
    ],
)
def test_quantised_by_name(tmp_path: Path, names: tuple[str, ...], kind: str) -> None:
    with refused("WGT008", kind):
        open_checkpoint(checkpoint(tmp_path, dict.fromkeys(names, BYTES)))


def test_gptq_is_told_from_awq(tmp_path: Path) -> None:
    with refused("WGT008") as found:
        open_checkpoint(checkpoint(tmp_path, dict.fromkeys(("l.qweight", "l.g_idx"), BYTES)))
    assert "AWQ" not in str(found.value)


@pytest.mark.parametrize(("dtype", "kind"), [("F8_E4M3", "fp8 (tensor `a`)"), ("F8_E5M2", "fp8"), ("F8_E8M0", "fp8")])
def test_quantised_by_type(tmp_path: Path, dtype: str, kind: str) -> None:
    with refused("WGT008", kind):
        open_checkpoint(checkpoint(tmp_path, {"a": BYTES}, a=dtype))


def test_fp4_counts_two_numbers_a_byte(tmp_path: Path) -> None:
    raw(tmp_path / "model.safetensors", {"a": {"dtype": "F4", "shape": [8], "data_offsets": [0, 4]}}, bytes(4))
    with refused("WGT008", "fp4 (tensor `a`)"):
        open_checkpoint(tmp_path)


def test_every_kind_is_named(tmp_path: Path) -> None:
    with refused("WGT008", "bitsandbytes 4-bit", "mxfp4"):
        open_checkpoint(checkpoint(tmp_path, dict.fromkeys(("a.absmax", "e_blocks", "e_scales"), BYTES)))


def test_plain_names_that_only_look_alike(tmp_path: Path) -> None:
    names = ("l.scales", "l.res_blocks", "l.scale", "l.weight_g")
    assert set(open_checkpoint(checkpoint(tmp_path, dict.fromkeys(names, numbers(1)))).tensors) == set(names)
