"""A model and an adapter from their texts, both with drawn weights, in PyTorch and as a graph."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from specc.backends.onnx.write import Laid, write
from specc.backends.torch.adapter.emit import emit_adapter
from specc.backends.torch.emit import emit
from specc.diagnostics.finding import Report
from specc.ir.adapter import Adapter
from specc.resolve.adapter import resolve_adapter
from specc.resolve.program import load
from specc.weights.init import init
from tests.adapter.published import opened, perturb, python


@dataclass
class Made:
    """The model with the adapter over it, and the adapter's tensors; `folder` holds the model's weights."""

    folder: Path
    adapter: Adapter
    model: torch.nn.Module
    over: torch.nn.Module
    tensors: dict[str, np.ndarray]

    def onnx(self, merging: bool = False) -> Graph:
        write(self.adapter.base, self.folder / "out", self.folder, over=Laid(self.adapter, self.tensors, merging))
        return Graph(self.folder / "out", None if merging else self.folder / "out" / "a.onnx_adapter")


class Graph:
    """A graph, and the adapter that each run takes; none is the graph by itself."""

    def __init__(self, folder: Path, adapter: Path | None) -> None:
        self.session = opened(folder)
        self.adapter = adapter

    def run(self, ids: torch.Tensor, mask: torch.Tensor, cache: dict[str, np.ndarray] | None = None) -> dict[str, np.ndarray]:
        import onnxruntime

        run = onnxruntime.RunOptions()
        if self.adapter is not None:
            held = onnxruntime.LoraAdapter()
            held.Load(str(self.adapter))
            run.add_active_adapter(held)
        names = [output.name for output in self.session.get_outputs()]
        return dict(zip(names, self.session.run(names, self._feeds(ids, mask, cache), run), strict=True))

    def _feeds(self, ids: torch.Tensor, mask: torch.Tensor, cache: dict[str, np.ndarray] | None) -> dict[str, np.ndarray]:
        places = (mask.cumsum(-1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        given: dict[str, Any] = {"input_ids": ids, "attention_mask": mask, "position_ids": places, "token_type_ids": torch.zeros_like(ids)}
        feeds = {}
        for wanted in self.session.get_inputs():
            name = wanted.name
            if name in given:
                feeds[name] = given[name].numpy()
            elif name.startswith("past_key_values."):
                empty = np.zeros([e if isinstance(e, int) else len(ids) if e == "batch" else 0 for e in wanted.shape], np.float32)
                feeds[name] = cache[name.replace("past_key_values", "present")] if cache else empty
        return feeds


def resolved(folder: Path, model: str, body: str) -> Adapter:
    (folder / "a.specc").write_text(f"{model}\nadapter a for tiny {{\n{body}\n}}\n", "utf-8")
    program = load(folder / "a.specc")
    return resolve_adapter(program.adapters["a"], program, Report()).adapter


def make(folder: Path, model: str, body: str, seed: int = 0) -> Made:
    adapter = resolved(folder, model, body)
    init(adapter.base, folder, "random", seed, "F32")
    torch.manual_seed(seed)
    made = python(emit(adapter.base), "generated_base").Model.from_checkpoint(folder).eval()
    over = python(emit_adapter(adapter), "generated_adapter").Adapter(made)
    assert over.state_dict().keys() == adapter.parameters().keys()
    perturb(over.parameters(), 0.2)
    return Made(folder, adapter, made, over, {name: tensor.numpy().copy() for name, tensor in over.state_dict().items()})
