"""The header reader takes well-formed files as the safetensors package does, and refuses every malformed one."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from specc.weights.safetensors import MAX_HEADER, read_header
from tests.weights.files import numbers, raw, refused, save


def entry(begin: int, end: int, dtype: str = "F32", shape: object = None) -> dict[str, object]:
    return {"dtype": dtype, "shape": [(end - begin) // 4] if shape is None else shape, "data_offsets": [begin, end]}


def test_reads_what_the_package_writes(tmp_path: Path) -> None:
    arrays = {"b": numbers(2, 3), "a": numbers(5, dtype="float16"), "empty": np.empty((0, 4), np.float32), "scalar": np.array(3.0)}
    save_file(arrays, tmp_path / "x.safetensors", {"format": "pt"})
    found = read_header(tmp_path / "x.safetensors")
    assert {n: (t.dtype, t.shape) for n, t in found.items()} == {
        "b": ("F32", (2, 3)),
        "a": ("F16", (5,)),
        "empty": ("F32", (0, 4)),
        "scalar": ("F64", ()),
    }
    content = (tmp_path / "x.safetensors").read_bytes()
    for name, info in found.items():
        assert content[info.offset : info.offset + info.length] == arrays[name].tobytes()


def test_a_link_is_resolved(tmp_path: Path) -> None:
    save(tmp_path / "blob", {"a": numbers(2)})
    (tmp_path / "model.safetensors").symlink_to("blob")
    assert read_header(tmp_path / "model.safetensors")["a"].file == (tmp_path / "blob").resolve()


EIGHT = bytes(8)


@pytest.mark.parametrize(
    ("header", "data", "words"),
    [
        (b"[1]", b"", "not an object"),
        (b"{", b"", "cannot be read"),
        (b"\xff\xfe{}", b"", "cannot be read"),
        (b'{"a":' * 200_000, b"", "cannot be read"),
        (b'{"a": ' + b"9" * 5000 + b"}", b"", "cannot be read"),
        (
            b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}',
            bytes(4),
            "stands twice",
        ),
        (b'{"a":{"dtype":"F32","dtype":"I32","shape":[1],"data_offsets":[0,4]}}', bytes(4), "stands twice"),
        ({"__metadata__": {"a": 1}}, b"", "__metadata__"),
        ({"a": [0, 8]}, EIGHT, "exactly dtype, shape and data_offsets"),
        ({"a": {"dtype": "F32", "shape": [2]}}, EIGHT, "exactly dtype, shape and data_offsets"),
        ({"a": entry(0, 8, "F99")}, EIGHT, "unknown dtype"),
        ({"a": entry(0, 8, ["F32"])}, EIGHT, "unknown dtype"),  # type: ignore[arg-type]
        ({"a": entry(0, 8, shape=[-2])}, EIGHT, "shape"),
        ({"a": entry(0, 8, shape=[-1, -2])}, EIGHT, "shape"),
        ({"a": entry(0, 4, shape=[True])}, bytes(4), "shape"),
        ({"a": entry(0, 8, shape=[2.0])}, EIGHT, "shape"),
        ({"a": entry(0, 8, shape="2")}, EIGHT, "shape"),
        ({"a": entry(0, 4, shape=[1] * 65)}, bytes(4), "shape"),
        ({"a": entry(0, 0, shape=[2**64, 0])}, b"", "shape"),
        ({"a": entry(-8, 0, shape=[2])}, EIGHT, "data_offsets"),
        ({"a": {"dtype": "F32", "shape": [0], "data_offsets": [8, 0]}}, EIGHT, "data_offsets"),
        ({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8, 8]}}, EIGHT, "data_offsets"),
        ({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0.0, 8.0]}}, EIGHT, "data_offsets"),
        ({"a": entry(0, 8, shape=[3])}, EIGHT, "F32 [3] needs 12"),
        ({"a": entry(0, 8, shape=[2**40, 2**40])}, EIGHT, "needs"),
        ({"a": entry(0, 16)}, EIGHT, "cut short"),
        ({"a": entry(0, 2**62)}, EIGHT, "cut short"),
        ({"a": entry(0, 8), "b": entry(4, 12)}, bytes(12), "overlaps"),
        ({"a": entry(0, 8), "b": entry(0, 8)}, EIGHT, "overlaps"),
        ({"a": entry(0, 4), "b": entry(8, 12)}, bytes(12), "hole"),
        ({"a": entry(4, 8)}, EIGHT, "hole"),
        ({"a": entry(0, 4)}, EIGHT, "nothing may follow"),
        ({"\x1b[2J": entry(0, 8)}, EIGHT, "cannot be printed"),
        ({"\ud800": entry(0, 8)}, EIGHT, "cannot be printed"),
        ({"a" * 2000: entry(0, 8)}, EIGHT, "too long"),
    ],
)
def test_malformed_headers(tmp_path: Path, header: object, data: bytes, words: str) -> None:
    with refused("WGT004", "x.safetensors", words):
        read_header(raw(tmp_path / "x.safetensors", header, data))


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (2**63, "at most"),
        (2**64 - 1, "at most"),
        (MAX_HEADER + 1, "at most"),
        (MAX_HEADER, "cut short"),
        (3, "cut short"),
        (0, "cannot be read"),
    ],
)
def test_a_header_may_not_claim_more_than_there_is(tmp_path: Path, length: int, words: str) -> None:
    with refused("WGT004", words):
        read_header(raw(tmp_path / "x.safetensors", b"{}", length=length))


def test_a_file_of_less_than_eight_bytes(tmp_path: Path) -> None:
    (tmp_path / "x.safetensors").write_bytes(b"\x02\0\0")
    with refused("WGT004", "3 bytes"):
        read_header(tmp_path / "x.safetensors")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.safetensors")
    with refused("WGT004", "not a file"):
        read_header(tmp_path / "x.safetensors")


def test_every_cut_of_a_file_is_refused(tmp_path: Path) -> None:
    whole = save(tmp_path / "whole.safetensors", {"a": numbers(2), "b": numbers(3, dtype="float16")}).read_bytes()
    for size in range(len(whole)):
        (tmp_path / "x.safetensors").write_bytes(whole[:size])
        with refused("WGT004"):
            read_header(tmp_path / "x.safetensors")


def test_the_files_of_these_tests_are_well_formed(tmp_path: Path) -> None:
    arrays = {"b": numbers(2, 3), "a": numbers(4)}
    loaded = load_file(save(tmp_path / "x.safetensors", arrays))
    assert all(np.array_equal(loaded[name], arrays[name]) for name in arrays)
