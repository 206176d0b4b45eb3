"""The graph as a file, with the weights beside it, linked or copied."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from specc.backends.onnx.emit import build
from specc.diagnostics.finding import fail
from specc.ir.model import Model
from specc.weights.checkpoint import OWN, open_checkpoint
from specc.weights.mapping import Placement, Stored, place
from specc.weights.own import own_layout
from specc.weights.seal import seal, written

COMPANIONS = ("config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json")
COMPUTE = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
STORED = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}


@dataclass(frozen=True, slots=True)
class Written:
    """The graph's path, and one line for each thing that the user should know."""

    graph: Path
    remarks: tuple[str, ...]


def write(
    model: Model,
    out: Path,
    weights: Path | None = None,
    weights_as: str | None = None,
    dtype: str = "stored",
    provider: str = "auto",
    origins: dict[str, str] | None = None,
) -> Written:
    """Writes OUT/model.onnx whole or not at all. Raises SpecError where the checkpoint does not fit the model."""
    remarks: list[str] = []
    if weights is None:
        beginning, tensors = own_layout(model)
        stored = {key: Stored(info) for key, info in tensors.items()}
        files: tuple[Path, ...] = ()
        seals = written(OWN, len(beginning) + sum(info.length for info in tensors.values()), beginning[8:])
        remarks.append("the graph refers to weights.safetensors, which is not there yet: `specc weights init` writes it")
    else:
        checkpoint = open_checkpoint(weights)
        placement = place(model, checkpoint)
        stored = placement.stored if _is_same(weights, out) else _by_names(placement, weights)
        files = tuple(dict.fromkeys(s.tensor.file for s in stored.values()))
        seals = " ".join(seal(file) for file in sorted(files))
    compute = _compute(dtype, provider, stored, remarks)
    graph = build(model, stored, compute, origins, {"specc.weights": seals} | _facts(model))
    try:
        out.mkdir(parents=True, exist_ok=True)
        if weights is not None:
            _bring(files, weights, out, weights_as, remarks)
            _companions(weights, out)
        _save(graph, out / "model.onnx")
    except OSError as error:
        raise fail("SYS005", f"cannot write into {out}: {error.strerror or error}") from None
    return Written(out / "model.onnx", tuple(remarks))


def _is_same(folder: Path, other: Path) -> bool:
    return folder.resolve() == other.resolve()


def _by_names(placement: Placement, folder: Path) -> dict[str, Stored]:
    """Each parameter in the file that the folder names: behind a link lies another name, which the graph must not hold."""
    named = {file: folder / name for file, name in placement.names.items()}
    return {key: replace(s, tensor=replace(s.tensor, file=named[s.tensor.file])) for key, s in placement.stored.items()}


def _compute(dtype: str, provider: str, stored: dict[str, Stored], remarks: list[str]) -> str:
    """The type of the activations. The CPU has no kernels for 16 bits, so stored 16-bit weights are widened there."""
    if dtype != "stored":
        return COMPUTE[dtype]
    kinds = sorted({STORED[s.tensor.dtype] for s in stored.values() if s.tensor.dtype in STORED})
    if kinds in ([], ["float32"]):
        return "float32"
    if provider == "cuda" and len(kinds) == 1:
        return kinds[0]
    remarks.append(f"the weights are stored in {' and '.join(kinds)}; the graph computes in float32 (Cast in front of each)")
    return "float32"


def _facts(model: Model) -> dict[str, str]:
    """What has to be known of a graph to run it."""
    dims = model.stack.dims
    facts = {"specc.model": model.name, "specc.kind": "causal" if model.stack.causal else "encoder"}
    facts["specc.head"] = " ".join(head.component.kind for head in model.heads)
    sizes = {"specc.vocab": dims.vocab, "specc.context": dims.context}
    return facts | {name: str(size) for name, size in sizes.items() if size is not None}


def _save(graph, path: Path) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(graph.SerializeToString(deterministic=True))
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _bring(files: tuple[Path, ...], folder: Path, out: Path, how: str | None, remarks: list[str]) -> None:
    """Puts each weight file where the graph looks for it: in its own folder."""
    if _is_same(folder, out):
        if how in ("link", "copy"):
            raise fail("SYS006", f"--weights-as {how} needs another folder than the checkpoint's own")
        if any(file.parent != folder.resolve() for file in files):
            remarks.append("the weights lie behind links that leave the folder: `specc run` follows them, other tools want another OUT")
        return
    if how == "beside":
        raise fail("SYS006", "--weights-as beside writes the graph into the checkpoint's folder", None, f"use -o {folder}")
    for file in files:
        source, target = file.resolve(), out / file.name
        if target.exists() and os.path.samefile(source, target):
            linked = True
        else:
            target.unlink(missing_ok=True)
            linked = how != "copy" and _link(source, target, how)
        if not linked:
            _copy(source, target)
        elif not any("linked" in remark for remark in remarks):
            remarks.append(f"{target.name} is linked, not copied; onnx.checker and onnx.load refuse files with a second link (use --weights-as copy)")


def _link(source: Path, target: Path, how: str | None) -> bool:
    try:
        os.link(source, target)
    except OSError as error:
        if how == "link":
            raise fail("SYS005", f"cannot link {source.name} into {target.parent}: {error.strerror}") from None
        return False
    return True


def _copy(source: Path, target: Path) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        shutil.copyfile(source, temporary)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _companions(source: Path, out: Path) -> None:
    for name in COMPANIONS:
        if (source / name).is_file() and source.resolve() != out.resolve():
            _copy(source / name, out / name)
