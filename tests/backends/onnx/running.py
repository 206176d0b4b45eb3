"""A graph on ONNX Runtime's CPU: whole, in pieces, with any batch, and the arrays that it is fed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

PAST, PRESENT = "past_key_values.", "present."
NUMPY = {"tensor(float)": np.float32, "tensor(float16)": np.float16}


def open_session(graph: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def tokens(batch: int, length: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Rows of tokens and segments; all tokens real."""
    rng = np.random.default_rng([seed, 5])
    ids = rng.integers(0, 24, (4, 64))[:batch, :length]
    segments = rng.integers(0, 2, (4, 64))[:batch, :length]
    return {"input_ids": ids, "token_type_ids": segments, "attention_mask": np.ones_like(ids)}


def run(session: Any, given: dict[str, np.ndarray], pieces: tuple[int, ...] = ()) -> dict[str, np.ndarray]:
    """Every output. In pieces the outputs by token are joined; `present.*` are those of the last piece."""
    length, past, found, start = given["input_ids"].shape[1], {}, [], 0
    for piece in pieces or (length,):
        end = start + piece
        part = {name: value[:, :end] if name == "attention_mask" else value[:, start:end] for name, value in given.items()}
        found.append(_call(session, part, past))
        past = {PAST + name.removeprefix(PRESENT): value for name, value in found[-1].items() if name.startswith(PRESENT)}
        start = end
    assert start == length
    axes = {o.name: o.shape for o in session.get_outputs()}
    by_token = [name for name in found[0] if len(axes[name]) > 1 and axes[name][1] == "sequence"]
    return found[-1] | {name: np.concatenate([part[name] for part in found], axis=1) for name in by_token}


def _call(session: Any, given: dict[str, np.ndarray], past: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    batch, new = given["input_ids"].shape
    mask = given["attention_mask"]
    known = given | past | {"position_ids": np.maximum(mask.cumsum(1) - 1, 0)[:, -new:]}
    feeds = {}
    for wanted in session.get_inputs():
        if wanted.name not in known:
            shape = [extent if isinstance(extent, int) else batch if extent == "batch" else 0 for extent in wanted.shape]
            known[wanted.name] = np.zeros(shape, NUMPY[wanted.type])
        feeds[wanted.name] = known[wanted.name]
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))
