"""How a graph comes into its folder: whole or not at all, the weights where they were asked to be, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from specc.backends.onnx import staged
from specc.backends.onnx.write import write
from specc.diagnostics.finding import SpecError
from specc.faces.cli import main
from tests.backends.onnx.models import SPECS, model, save
from tests.backends.onnx.running import open_session

NAME = "grouped"


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = save(NAME, tmp_path / "weights")
    for name in ("config.json", "tokenizer.json", "generation_config.json"):
        (folder / name).write_text(f'{{"of": "{name}"}}')
    return folder


def listing(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()} if folder.is_dir() else {}


def refused(out: Path, *arguments: object, **options: object) -> str:
    with pytest.raises(SpecError) as caught:
        write(model(NAME), out, *arguments, **options)
    return str(caught.value)


# ---- what is refused


def test_the_place_is_a_file(tmp_path: Path, weights: Path):
    (tmp_path / "out").write_text("mine")
    assert refused(tmp_path / "out", weights) == f"SYS005: cannot write into {tmp_path / 'out'}: File exists"
    assert refused(tmp_path / "out" / "deeper", weights) == f"SYS005: cannot write into {tmp_path / 'out' / 'deeper'}: Not a directory"
    assert (tmp_path / "out").read_text() == "mine"


def test_the_place_may_not_be_written(tmp_path: Path, weights: Path, monkeypatch: pytest.MonkeyPatch):
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o500)
    if os.access(out, os.W_OK):  # the superuser may: the same error by other means
        monkeypatch.setattr(staged.os, "link", _denied)
        monkeypatch.setattr(Path, "write_bytes", _denied)
        monkeypatch.setattr(staged.Staged, "copy", _denied)
    assert refused(out, weights) == f"SYS005: cannot write into {out}: Permission denied"
    out.chmod(0o700)
    assert listing(out) == {}


def _denied(*arguments: object, **options: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_a_folder_stands_where_the_graph_should(tmp_path: Path, weights: Path):
    (tmp_path / "out" / "model.onnx").mkdir(parents=True)
    assert refused(tmp_path / "out", weights) == f"SYS005: cannot write into {tmp_path / 'out'}: model.onnx is a folder there"
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["model.onnx"]


def test_places_that_contradict_themselves(tmp_path: Path, weights: Path):
    assert refused(tmp_path / "out", weights, "beside").startswith("SYS006: --weights-as beside writes the graph into the checkpoint's folder")
    assert refused(weights, weights, "link").startswith("SYS006: --weights-as link needs another folder")
    assert refused(weights, weights, "copy").startswith("SYS006: --weights-as copy needs another folder")
    assert refused(tmp_path / "out", None, "copy").startswith("SYS006: --weights-as copy says where the weights lie, and no weights are given")
    assert not (tmp_path / "out").exists()
    assert not (weights / "model.onnx").exists()


def test_the_command_line_says_so_in_one_line(tmp_path: Path, weights: Path, capsys: pytest.CaptureFixture):
    spec = tmp_path / "m.specc"
    spec.write_text(SPECS[NAME])
    assert main(["build", str(spec), "--to", "onnx", "-o", str(tmp_path / "out"), "--weights", str(weights), "--weights-as", "beside"]) == 2
    given = capsys.readouterr()
    assert given.out == "" and given.err.splitlines()[0].startswith("error SYS006: ")


def test_bytes_that_were_half_written_do_not_remain(tmp_path: Path, weights: Path, monkeypatch: pytest.MonkeyPatch):
    """A full disk, or an interrupt, at each of the steps: the folder stays as it was before."""
    out = tmp_path / "out"
    write(model(NAME), out, weights, "copy")
    before = listing(out)
    for error in (OSError(28, "No space left on device"), KeyboardInterrupt()):
        for step in ("graph", "weights", "rename"):
            with monkeypatch.context() as patch:
                _break(patch, step, error)
                with pytest.raises(SpecError if isinstance(error, OSError) else KeyboardInterrupt):
                    write(model(NAME), out, weights, "copy", dtype="fp16")
            assert listing(out) == before, (error, step)
    with monkeypatch.context() as patch:
        _break(patch, "graph", OSError(28, "No space left on device"))
        refused(tmp_path / "new", weights, "copy")
    assert listing(tmp_path / "new") == {}


def _break(patch: pytest.MonkeyPatch, step: str, error: BaseException) -> None:
    """Writes half of what is due, and fails."""
    if step == "graph":

        def half(path: Path, content: bytes) -> int:
            with path.open("wb") as file:
                file.write(content[: len(content) // 2])
            raise error

        patch.setattr(Path, "write_bytes", half)
    elif step == "weights":
        moved = staged._move

        def partly(given: int, made: int, size: int) -> int:
            moved(given, made, size // 2)
            raise error

        patch.setattr(staged, "_move", partly)
    else:

        def never(source: Path, target: Path) -> None:
            raise error

        patch.setattr(staged.os, "replace", never)


# ---- where the weights come to lie


def test_beside_copies_nothing_and_touches_nothing(weights: Path):
    before = listing(weights)
    done = write(model(NAME), weights, weights)
    assert done.remarks == ()
    assert listing(weights) == before | {"model.onnx": done.graph.read_bytes()}


def test_by_default_another_folder_gets_links(tmp_path: Path, weights: Path):
    out = tmp_path / "out"
    done = write(model(NAME), out, weights)
    assert len(done.remarks) == 1 and "is linked, not copied; onnx.checker and onnx.load refuse" in done.remarks[0]
    assert os.path.samefile(out / "weights.safetensors", weights / "weights.safetensors")
    assert not os.path.samefile(out / "config.json", weights / "config.json")
    again = write(model(NAME), out, weights)
    assert again == done


def test_a_copy_takes_the_place_of_a_link(tmp_path: Path, weights: Path):
    out = tmp_path / "out"
    write(model(NAME), out, weights, "link")
    done = write(model(NAME), out, weights, "copy")
    assert done.remarks == ()
    assert not os.path.samefile(out / "weights.safetensors", weights / "weights.safetensors")
    assert (weights / "weights.safetensors").stat().st_nlink == 1
    write(model(NAME), out, weights, "link")
    assert os.path.samefile(out / "weights.safetensors", weights / "weights.safetensors")


def test_a_symbolic_link_in_the_way_is_replaced(tmp_path: Path, weights: Path):
    """ONNX Runtime refuses weights behind a link that leaves the graph's folder."""
    pytest.importorskip("onnxruntime")
    out = tmp_path / "out"
    out.mkdir()
    (out / "weights.safetensors").symlink_to(weights / "weights.safetensors")
    graph = write(model(NAME), out, weights).graph
    assert not (out / "weights.safetensors").is_symlink() and (weights / "weights.safetensors").is_file()
    open_session(graph)


def test_where_links_cannot_be_made_the_weights_are_copied(tmp_path: Path, weights: Path, monkeypatch: pytest.MonkeyPatch):
    def other_device(source: Path, target: Path) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(staged.os, "link", other_device)
    done = write(model(NAME), tmp_path / "out", weights)
    assert done.remarks == ()
    assert (tmp_path / "out" / "weights.safetensors").read_bytes() == (weights / "weights.safetensors").read_bytes()
    assert "cannot link weights.safetensors" in refused(tmp_path / "other", weights, "link")
    assert listing(tmp_path / "other") == {}


def test_copying_says_how_far_it_is(tmp_path: Path, weights: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(staged, "CHUNK", 1000)
    seen: list[tuple[str, int, int]] = []
    write(model(NAME), tmp_path / "out", weights, "copy", progress=lambda *step: seen.append(step))
    size = (weights / "weights.safetensors").stat().st_size
    assert seen[-1] == ("weights.safetensors", size, size) and len(seen) == -(-size // 1000)


def test_without_the_kernel_s_help_the_copy_is_the_same(tmp_path: Path, weights: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr(staged.os, "copy_file_range", raising=False)
    write(model(NAME), tmp_path / "out", weights, "copy")
    assert (tmp_path / "out" / "weights.safetensors").read_bytes() == (weights / "weights.safetensors").read_bytes()


def test_the_tokenizer_and_the_settings_come_along(tmp_path: Path, weights: Path):
    write(model(NAME), tmp_path / "out", weights)
    for name in ("config.json", "tokenizer.json", "generation_config.json"):
        assert (tmp_path / "out" / name).read_bytes() == (weights / name).read_bytes()


def test_without_weights_the_graph_fits_those_that_its_spec_makes(tmp_path: Path):
    pytest.importorskip("onnxruntime")
    from specc.weights.init import init

    done = write(model(NAME), tmp_path)
    assert done.remarks == ("the graph refers to weights.safetensors, which is not there yet: `specc weights init` writes it",)
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]
    init(model(NAME), tmp_path)
    open_session(done.graph)
