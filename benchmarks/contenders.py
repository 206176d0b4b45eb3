"""The commands that turn a checkpoint into an ONNX graph: specc's, and its peers' where they are installed."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from measure import MISSING, REPOSITORY, SPECC, Contender, has, say, spawn

DISTRIBUTIONS = ("onnx", "onnxruntime", "onnxruntime-gpu", "onnxruntime-genai", "mobius-onnx", "torch", "transformers")


def checkpoint(peers: str, folder: Path, scale: int = 1) -> Path:
    """The benchmarks' checkpoint, made where it is not there yet. Raises Failed."""
    if not (folder / "tokenizer.json").exists():
        say(f"making {folder.name}")
        python = sys.executable if has(sys.executable, "transformers") else peers
        spawn([python, str(REPOSITORY / "benchmarks" / "checkpoint.py"), str(folder), str(scale)])
    return folder


def imported(source: Path, spec: Path) -> Path:
    """The spec of a checkpoint. Raises Failed."""
    spawn([*SPECC, "import", str(source), "-o", str(spec)])
    return spec


def specc(spec: Path, source: Path, out: Path, how: str) -> Contender:
    out = source if how == "beside" else out
    command = [*SPECC, "build", str(spec), "--to", "onnx", "-o", str(out), "--weights", str(source), "--weights-as", how]
    return Contender(f"specc, weights {how}", command, prepare=lambda: cleared(out, source), out=out)


def peers(python: str, source: Path, work: Path) -> list[Contender]:
    """The peers that write a decoder with a cache."""
    mobius = [python, "-m", "mobius", "build", "--config", str(source)]
    builder = [python, "-m", "onnxruntime_genai.models.builder", "-i", str(source), "-p", "fp32", "-e", "cpu"]
    builder += ["-c", str(work / "cache"), "-o"]
    return [
        _peer("mobius", python, "mobius", mobius, work / "mobius", source),
        _peer("mobius --ep cpu", python, "mobius", [*mobius, "--ep", "cpu"], work / "mobius-cpu", source),
        _peer("onnxruntime-genai fp32", python, "onnxruntime_genai", builder, work / "genai", source),
    ]


def torch_export(python: str, source: Path, work: Path) -> Contender:
    script = [python, str(REPOSITORY / "benchmarks" / "torch_export.py"), str(source)]
    found = _peer("torch.onnx.export, no cache", python, "onnxscript", script, work / "torch", source)
    return found if has(python, "transformers") else Contender(found.name, trouble=MISSING)


def _peer(name: str, python: str, module: str, command: list[str], out: Path, source: Path) -> Contender:
    """`command` takes the folder to write into last."""
    trouble = "" if has(python, module) else MISSING
    return Contender(name, [*command, str(out)], trouble, lambda: cleared(out, source), out)


def cleared(out: Path, source: Path) -> None:
    """Nothing of an earlier run is there: every run writes all that it has to."""
    if out == source:
        (out / "model.onnx").unlink(missing_ok=True)
    else:
        shutil.rmtree(out, ignore_errors=True)
