"""A model with an adapter over it, computed by its generated PyTorch files and by ONNX Runtime."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from specc.ir.adapter import Adapter
from specc.tools.verify.by_onnx import ByOnnx
from specc.tools.verify.by_torch import ByTorch
from specc.weights.mapping import Stored
from specc.weights.own import own_layout

if TYPE_CHECKING:
    from numpy import ndarray


class AdaptedTorch(ByTorch):
    """tensors: the adapter's; None for those of a new one."""

    def __init__(self, adapter: Adapter, numbers: dict[str, ndarray], folder: Path, tensors: dict[str, ndarray] | None) -> None:
        super().__init__(adapter.base, numbers, folder)
        import torch

        from specc.backends.torch.adapter.emit import emit_adapter

        module = ModuleType(f"specc_adapter_{adapter.name}")
        sys.modules[module.__name__] = module
        try:
            exec(compile(emit_adapter(adapter), f"{adapter.name}.py", "exec"), module.__dict__)
        finally:
            del sys.modules[module.__name__]
        self.over = module.Adapter(self.network)
        if tensors is not None:
            self.over.load_state_dict({name: torch.from_numpy(array) for name, array in tensors.items()})


class AdaptedOnnx(ByOnnx):
    """tensors: the adapter's, which the graph takes beside its weights; None for the graph by itself."""

    def __init__(self, adapter: Adapter, folder: Path, tensors: dict[str, ndarray] | None) -> None:
        self.adapter = adapter
        super().__init__(adapter.base, folder)
        if tensors is not None:
            from specc.backends.onnx.adapter.runtime import given
            from specc.weights.checkpoint import open_checkpoint
            from specc.weights.mapping import place

            values = given(adapter, tensors, place(adapter.base, open_checkpoint(folder)).stored)
            taken = {wanted.name for wanted in self.session.get_overridable_initializers()}
            self.beside = {name: array for name, array in values.items() if name in taken}

    def graphs(self, model, layout) -> list[bytes]:
        from specc.backends.onnx import emit

        stored = {key: Stored(info) for key, info in own_layout(layout)[1].items()}
        return [graph.SerializeToString() for graph in emit.graphs(model, stored, over=self.adapter).values()]
