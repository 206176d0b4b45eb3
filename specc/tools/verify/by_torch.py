"""A model computed by its generated PyTorch file."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from specc.ir.model import Model
from specc.tools.verify.inputs import Inputs

if TYPE_CHECKING:
    from numpy import ndarray

_numbers = count()


def generated(model: Model) -> ModuleType:
    """The generated file as a module."""
    from specc.backends.torch import emit

    module = ModuleType(f"specc_generated_{next(_numbers)}")
    sys.modules[module.__name__] = module  # dataclasses look up the module they stand in
    try:
        exec(compile(emit.emit(model), f"{model.name}.py", "exec"), module.__dict__)
    finally:
        del sys.modules[module.__name__]
    return module


class ByTorch:
    """The generated model in float32, with numbers at hand or with those of a checkpoint."""

    name = "PyTorch"

    def __init__(self, model: Model, numbers: dict[str, ndarray] | None, folder: Path) -> None:
        import torch

        self.outputs, self.takes = tuple(model.outputs), model.inputs()
        self.padded = model.stack.padded
        made = generated(model).Model
        if numbers is None:
            self.network = made.from_checkpoint(folder).float()
        else:
            self.network = made()  # not on the meta device: drawing its small weights is quicker than not drawing them
            self.network.load_state_dict({key: torch.from_numpy(numbers[key]) for key in model.parameters()}, assign=True)
        self.network.eval()

    def run(self, inputs: Inputs) -> dict[str, ndarray]:
        """One full pass."""
        out = self._call(inputs)
        return {name: getattr(out, name).numpy() for name in self.outputs}

    def steps(self, inputs: Inputs, pieces: list[int]) -> dict[str, ndarray]:
        """The same in pieces, each taking up the cache that the one before left."""
        import numpy as np

        found: list[dict[str, ndarray]] = []
        cache, start = None, 0
        for piece in pieces:
            end = start + piece
            part = inputs.piece(start, end)
            out = self._call(part, cache=cache)
            found.append({name: getattr(out, name).numpy() for name in self.outputs})
            cache, start = out.cache, end
        return {name: np.concatenate([part[name] for part in found], axis=1) for name in self.outputs}

    def _call(self, inputs: Inputs, **more: Any) -> Any:
        import torch

        given = {name: values for name, values in inputs.given.items() if name in self.takes}
        if self.padded:
            given["attention_mask"] = inputs.mask
        if inputs.source is not None:
            given = inputs.source.given | {"attention_mask": inputs.source.mask} | {f"decoder_{name}": values for name, values in given.items()}
        dtype = next(self.network.parameters()).dtype
        tensors = {name: torch.from_numpy(values) for name, values in given.items()}
        tensors = {name: tensor.to(dtype) if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}
        with torch.no_grad():
            return self.network(**tensors, **more)
