"""The files of an adapter's weights: what fits, and what is told of what does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from specc.diagnostics.finding import Report, SpecError
from specc.resolve.adapter import resolve_adapter
from specc.resolve.program import load
from specc.weights.adapter.held import open_adapter
from specc.weights.adapter.merging import merged
from specc.weights.checkpoint import open_checkpoint
from specc.weights.init import init
from specc.weights.mapping import place
from tests.adapter.models import TINY


def adapter(folder: Path, body: str):
    (folder / "a.specc").write_text(f"{TINY}\nadapter a for tiny {{ {body} }}\n", "utf-8")
    program = load(folder / "a.specc")
    return resolve_adapter(program.adapters["a"], program, Report()).adapter


def drawn(made) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(0)
    return {name: draw.normal(size=p.shape).astype("float32") for name, p in made.parameters().items()}


def stored(made, folder: Path):
    init(made.base, folder, "random", 0, "F32")
    return place(made.base, open_checkpoint(folder)).stored


def test_a_file_that_does_not_fit_is_told_so(tmp_path: Path):
    made = adapter(tmp_path, "lora(rank: 2, targets: [attention.q])")
    tensors = drawn(made)
    first = next(iter(tensors))
    for changed in (
        {name: t for name, t in tensors.items() if name != first},
        tensors | {"more": tensors[first]},
        tensors | {first: tensors[first][:1]},
        tensors | {first: tensors[first].astype("int64")},
    ):
        save_file(changed, tmp_path / "adapter.safetensors")
        with pytest.raises(SpecError, match="ADP008"):
            open_adapter(tmp_path, made)
    (tmp_path / "adapter.safetensors").unlink()
    with pytest.raises(SpecError, match="ADP008"):
        open_adapter(tmp_path, made)




def test_a_tied_table_cannot_be_merged(tmp_path: Path):
    made = adapter(tmp_path, "lora(rank: 2, targets: [embed.tokens])")
    with pytest.raises(SpecError, match="ADP007"):
        merged(made, drawn(made), stored(made, tmp_path / "w"))
