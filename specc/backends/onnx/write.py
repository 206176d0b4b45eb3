"""The graph as a file, with the weights beside it, linked or copied."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specc.backends.onnx.adapter.runtime import given
from specc.backends.onnx.adapter.runtime import write as export
from specc.backends.onnx.emit import graphs
from specc.backends.onnx.staged import Progress, Staged
from specc.diagnostics.finding import fail
from specc.ir.adapter import Adapter
from specc.ir.model import Model
from specc.weights.adapter.merging import merged
from specc.weights.checkpoint import OWN, open_checkpoint
from specc.weights.mapping import Placement, Stored, place
from specc.weights.own import layout, own_layout
from specc.weights.seal import seal, written

CHANGED = "merged.safetensors"  # the parameters that an adapter changes
COMPANIONS = ("config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json", "preprocessor_config.json")
COMPUTE = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
STORED = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "F64": "float64"}

BF16_ON_CPU = "leave --dtype out: weights stored in bfloat16 are widened to float32 there; or build for --provider cuda"


@dataclass(frozen=True, slots=True)
class Written:
    """The graphs' paths, and one line for each thing that the user should know."""

    graphs: tuple[Path, ...]
    remarks: tuple[str, ...]

    @property
    def graph(self) -> Path:
        """The graph of a model with one stack."""
        (graph,) = self.graphs
        return graph


def write(
    model: Model,
    out: Path,
    weights: Path | None = None,
    weights_as: str | None = None,
    dtype: str = "stored",
    provider: str = "auto",
    origins: dict[str, str] | None = None,
    progress: Progress | None = None,
    over: Laid | None = None,
    shown: frozenset[int] = frozenset(),
) -> Written:
    """Writes OUT/model.onnx (or encoder_model.onnx and decoder_model.onnx) and what belongs to it, whole or not at all.

    Raises SpecError where the checkpoint does not fit the model. over: an adapter that is laid over the model.
    shown: the numbers of the layers whose attention maps the graph gives.
    """
    remarks: list[str] = []
    _check_place(weights, out, weights_as)
    _check_laid(weights, over)
    if weights is None:
        beginning, tensors = own_layout(model)
        stored = {key: Stored(info) for key, info in tensors.items()}
        files, changed = (), b""
        seals = written(OWN, len(beginning) + sum(info.length for info in tensors.values()), beginning[8:])
        remarks.append("the graph refers to weights.safetensors, which is not there yet: `specc weights init` writes it")
    else:
        checkpoint = open_checkpoint(weights)
        placement = place(model, checkpoint)
        stored = placement.stored if _is_same(weights, out) else _by_names(placement, weights)
        stored, changed = (stored, b"") if over is None else over.merge(stored)
        files = tuple(dict.fromkeys(file for s in stored.values() for file in s.files if file != Path(CHANGED)))
        seals = " ".join(seal(file) for file in sorted(files))
        if changed:
            seals += f" {written(CHANGED, len(changed), header(changed))}"
    compute = _compute(dtype, provider, stored, remarks)
    laid = None if over is None or over.merging else over.adapter
    made = graphs(model, stored, compute, origins, {"specc.weights": seals} | _facts(model), laid, shown)
    try:
        with Staged(out) as staged:
            if weights is not None:
                _bring(files, weights, staged, weights_as, remarks, progress)
                _companions(weights, staged)
                if changed:
                    staged.put(CHANGED, changed)
                if laid is not None and over.tensors is not None:
                    for name, values in _for_each(laid, made, given(laid, over.tensors, stored)).items():
                        staged.make(name, lambda path, values=values: export(path, values, compute))
            for name, graph in made.items():
                staged.put(name, graph.SerializeToString(deterministic=True))
            staged.finish()
    except OSError as error:
        raise fail("SYS005", f"cannot write into {out}: {error.strerror or error}") from None
    return Written(tuple(out / name for name in made), tuple(remarks))


@dataclass(frozen=True, slots=True)
class Laid:
    """An adapter over the model. `tensors` are its weights, where they are at hand; merging: whether they go into the model's own."""

    adapter: Adapter
    tensors: dict | None = None
    merging: bool = False

    def merge(self, stored: dict[str, Stored]) -> tuple[dict[str, Stored], bytes]:
        """Where each parameter then lies, and the file of those that change."""
        if not self.merging:
            return stored, b""
        arrays = merged(self.adapter, self.tensors, stored)
        beginning, infos = layout([(key, stored[key].tensor.dtype, array.shape) for key, array in arrays.items()], Path(CHANGED))
        content = b"".join([beginning, *(arrays[key].tobytes() for key in infos)])
        return {key: Stored(infos[key]) if key in infos else s for key, s in stored.items()}, content


def _for_each(adapter: Adapter, made: dict[str, Any], values: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The adapter's file for each graph, with what that graph takes: `bot.onnx_adapter`, or `bot.encoder.onnx_adapter` and its sibling."""
    found = {}
    for name, graph in made.items():
        part = name.removesuffix(".onnx").removesuffix("model").replace("_", ".")
        taken = {given.name for given in graph.graph.input}
        held = {key: array for key, array in values.items() if key in taken}
        if held:
            found[f"{adapter.name}.{part}onnx_adapter"] = held
    return found


def header(file: bytes) -> bytes:
    """The header of a safetensors file."""
    return file[8 : 8 + int.from_bytes(file[:8], "little")]


def _check_laid(weights: Path | None, over: Laid | None) -> None:
    """An adapter's weights are of use only with the model's own."""
    if over is not None and weights is None and over.tensors is not None:
        raise fail("SYS006", "--adapter-weights are laid over the model's own weights, and none are given", None, "give --weights DIR too")
    if over is not None and over.merging and over.tensors is None:
        raise fail("SYS006", "--merge puts an adapter's weights into the model's, and none are given", None, "give --adapter-weights DIR")


def _is_same(folder: Path, other: Path) -> bool:
    return folder.resolve() == other.resolve()


def _by_names(placement: Placement, folder: Path) -> dict[str, Stored]:
    """Each parameter in the file that the folder names: behind a link lies another name, which the graph must not hold."""
    named = {file: folder / name for file, name in placement.names.items()}
    return {key: s.moved(named) for key, s in placement.stored.items()}


def _compute(dtype: str, provider: str, stored: dict[str, Stored], remarks: list[str]) -> str:
    """The type of the activations. The CPU computes in float32, so stored 16-bit weights are widened there."""
    if dtype == "bf16" and provider == "cpu":
        raise fail("SYS008", "ONNX Runtime computes nothing in bfloat16 on the CPU", None, BF16_ON_CPU)
    if dtype == "bf16":
        remarks.append("the graph computes in bfloat16, for which ONNX Runtime has no kernels on the CPU: it runs on CUDA only")
    if dtype != "stored":
        return COMPUTE[dtype]
    kinds = sorted({STORED[s.tensor.dtype] for s in stored.values() if s.tensor.dtype in STORED})
    if kinds in ([], ["float32"]):
        return "float32"
    if provider == "cuda" and kinds in (["float16"], ["bfloat16"]):
        return kinds[0]
    remarks.append(f"the weights are stored in {' and '.join(kinds)}; the graph computes in float32 (Cast in front of each)")
    return "float32"


def _facts(model: Model) -> dict[str, str]:
    """What has to be known of a graph to run it."""
    dims = model.stack.dims
    kind = "seq2seq" if model.encoder else "causal" if model.stack.causal else "encoder"
    facts = {"specc.model": model.name, "specc.kind": kind}
    facts["specc.head"] = " ".join(head.component.kind for head in model.heads)
    sizes = {"specc.vocab": dims.vocab, "specc.context": dims.context}
    if dims.image is not None:
        facts |= {"specc.patch": "{} {}".format(*dims.image.patch), "specc.leading": str(dims.leading)}
    return facts | {name: str(size) for name, size in sizes.items() if size is not None}


def _check_place(weights: Path | None, out: Path, how: str | None) -> None:
    """Whether the weights can lie where they are asked to."""
    if weights is None:
        if how is not None:
            raise fail("SYS006", f"--weights-as {how} says where the weights lie, and no weights are given", None, "give --weights DIR too")
    elif _is_same(weights, out):
        if how in ("link", "copy"):
            raise fail("SYS006", f"--weights-as {how} needs another folder than the checkpoint's own")
    elif how == "beside":
        raise fail("SYS006", "--weights-as beside writes the graph into the checkpoint's folder", None, f"use -o {weights}")


def _bring(files: tuple[Path, ...], folder: Path, staged: Staged, how: str | None, remarks: list[str], progress: Progress | None) -> None:
    """Puts each weight file where the graph looks for it: in its own folder."""
    if _is_same(folder, staged.folder):
        if any(file.parent != folder.resolve() for file in files):
            remarks.append("the weights lie behind links that leave the folder: `specc run` follows them, other tools want another OUT")
        return
    linked = [file.name for file in files if how != "copy" and _linked(file, staged, how)]
    for file in files:
        if file.name not in linked:
            staged.copy(file.resolve(), file.name, progress)
    if linked:
        verb = "is linked" if len(linked) == 1 else f"and {len(linked) - 1} more are linked"
        refuse = "onnx.checker and onnx.load refuse files with a second link (use --weights-as copy)"
        remarks.append(f"{linked[0]} {verb}, not copied; {refuse}")


def _linked(file: Path, staged: Staged, how: str | None) -> bool:
    """Links a weight file, unless it is linked already; whether that could be done."""
    source, target = file.resolve(), staged.folder / file.name
    if target.exists() and not target.is_symlink() and os.path.samefile(source, target):
        return True
    try:
        staged.link(source, file.name)
    except OSError as error:
        if how == "link":
            raise fail("SYS005", f"cannot link {file.name} into {staged.folder}: {error.strerror}") from None
        return False
    return True


def _companions(source: Path, staged: Staged) -> None:
    """The small files that a run reads."""
    for name in COMPANIONS:
        if (source / name).is_file() and not _is_same(source, staged.folder):
            staged.copy(source / name, name)
