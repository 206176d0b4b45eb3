"""Finds the files of a checkpoint in its folder, and refuses what specc does not read: pickles and quantised tensors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from specc.diagnostics.finding import SpecError, fail
from specc.weights.quantised import kinds
from specc.weights.safetensors import MAX_HEADER, TensorInfo, parse_json, read_header
from specc.weights.wording import listed

PUBLISHED, INDEX, OWN = "model.safetensors", "model.safetensors.index.json", "weights.safetensors"
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Every tensor of a folder. `files` have their symbolic links resolved; `names` are the files' names in the folder."""

    folder: Path
    files: tuple[Path, ...]
    tensors: dict[str, TensorInfo]
    names: dict[Path, str] = field(default_factory=dict)


def open_checkpoint(folder: Path) -> Checkpoint:
    """The tensors of model.safetensors, else of the files that the index names, else of weights.safetensors."""
    if not folder.is_dir():
        raise fail("WGT002", f"{folder} is not a folder", help="give the folder that holds model.safetensors")
    if (folder / PUBLISHED).exists():
        checkpoint = _gather(folder, [PUBLISHED])
    elif (folder / INDEX).exists():
        places = _index(folder / INDEX)
        checkpoint = _gather(folder, sorted(set(places.values())))
        _agree(checkpoint, places)
    elif (folder / OWN).exists():
        checkpoint = _gather(folder, [OWN])
    else:
        raise _nothing(folder)
    if found := kinds(checkpoint.tensors):
        raise fail(
            "WGT008",
            f"the checkpoint is quantised, which specc does not read: {'; '.join(found)}",
            help="use the checkpoint in F32, F16 or BF16 that it was made from",
        )
    return checkpoint


def _gather(folder: Path, names: Iterable[str]) -> Checkpoint:
    tensors: dict[str, TensorInfo] = {}
    files: dict[Path, str] = {}
    for name in names:
        path = folder / name
        if not path.is_file():
            raise fail("WGT007", f"{INDEX} names the file {name}, and the folder does not have it", help="download the missing file")
        for tensor in read_header(path).values():
            if tensor.name in tensors:
                other = files[tensors[tensor.name].file]
                raise fail("WGT007", f"tensor `{tensor.name}` stands in two files, {other} and {name}; it may stand in one")
            tensors[tensor.name] = tensor
            files.setdefault(tensor.file, name)
        files.setdefault(path.resolve(), name)  # a file without tensors
    return Checkpoint(folder, tuple(files), tensors, files)


def _index(path: Path) -> dict[str, str]:
    """For each tensor the file that holds it, as the index says."""
    if not path.is_file() or path.stat().st_size > MAX_HEADER:
        raise fail("WGT005", f"{path.name} is not a file of at most {MAX_HEADER} bytes")
    places = parse_json(path.read_bytes(), path, "WGT005").get("weight_map")
    if not isinstance(places, dict) or not places or not all(isinstance(name, str) for name in places.values()):
        raise fail("WGT005", f"{path.name} has no `weight_map` from tensors to files", help="download it again")
    for name in sorted(set(places.values())):
        # The index is not trusted: it may name files of its own folder, and no others.
        if "/" in name or "\\" in name or ":" in name or not name.isprintable() or not name.endswith(".safetensors"):
            raise fail(
                "WGT006",
                f"{path.name} names {ascii(name)[:200]}, which is not the plain name of a .safetensors file",
                help="the files of an index lie beside it, such as model-00001-of-00002.safetensors",
            )
    return places


def _agree(checkpoint: Checkpoint, places: dict[str, str]) -> None:
    tensors, names = checkpoint.tensors, checkpoint.names
    wrong = [t for t, file in places.items() if t not in tensors or names[tensors[t].file] != names[(checkpoint.folder / file).resolve()]]
    if wrong:
        shown = [f"`{ascii(name)[1:-1]}` in {places[name]}" for name in wrong]
        raise fail("WGT007", f"{INDEX} names tensors that are not in the files it says: {listed(shown)}")


def _nothing(folder: Path) -> SpecError:
    files = sorted(p.name for p in folder.iterdir() if p.is_file() and p.name.isprintable())
    if pickles := [name for name in files if name.endswith(_PICKLES)]:
        verb = "is a pickle" if len(pickles) == 1 else "are pickles"
        return fail(
            "WGT003",
            f"{listed(pickles)} {verb}, which can run code when it is read; specc reads safetensors only",
            help=f"save the model again as {PUBLISHED} (in transformers: save_pretrained)",
        )
    others = [name for name in files if name.endswith((".safetensors", ".gguf", ".h5", ".msgpack"))]
    beside = f"; it holds {listed(others)}" if others else ""
    return fail("WGT002", f"the folder has neither {PUBLISHED} nor {INDEX} nor {OWN}{beside}")
