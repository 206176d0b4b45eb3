"""Tiny checkpoints that transformers writes, and three ways to run one: transformers, specc's PyTorch file, specc's ONNX graph.

Everything goes the way a user goes: save_pretrained, `specc import`, `specc build`. Nothing of `specc verify` is used.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from specc.faces.cli import main

_numbers = itertools.count()


def write(folder: Path, config: Any, name: str = "AutoModelForCausalLM", seed: int = 0, spread: float = 0.08) -> Path:
    """A random checkpoint of a config; every parameter is moved, so that no norm's weight is a neutral one and no bias zero."""
    import torch
    import transformers

    torch.set_num_threads(1)  # on matrices as small as these, threads only wait for one another
    torch.manual_seed(seed)
    found = getattr(transformers, name)
    model = (found.from_config(config) if name.startswith("Auto") else found(config)).float().eval()
    with torch.no_grad():
        stored = [buffer for name, buffer in model.named_buffers() if name.endswith("bias") and buffer.is_floating_point()]
        for parameter in (*model.parameters(), *stored):
            parameter.add_(torch.randn_like(parameter) * spread)
    model.save_pretrained(folder, safe_serialization=True)
    return folder


def positions(mask: np.ndarray) -> np.ndarray:
    """Real tokens counted from 0, as every loader does it that pads to the left."""
    return np.maximum(mask.cumsum(1) - 1, 0)


class Reference:
    """transformers itself. A fresh instance for every sequence: some rotary tables remember the longest call they saw."""

    def __init__(self, folder: Path, name: str = "AutoModelForCausalLM", **changed: Any) -> None:
        self.folder, self.name, self.changed = folder, name, changed

    def _load(self) -> Any:
        import transformers

        return getattr(transformers, self.name).from_pretrained(self.folder, attn_implementation="eager", **self.changed).float().eval()

    def full(self, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """One pass over the whole sequence."""
        return self.steps(ids, mask, [ids.shape[1]])

    def steps(self, ids: np.ndarray, mask: np.ndarray, pieces: list[int]) -> np.ndarray:
        """The sequence in pieces, each call taking up the cache of the one before."""
        import torch

        model, cache, found, start = self._load(), None, [], 0
        for piece in pieces:
            end = start + piece
            given = {"input_ids": ids[:, start:end], "attention_mask": mask[:, :end], "position_ids": positions(mask)[:, start:end]}
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # the library is about to rename the cache
                out = model(**{k: torch.from_numpy(v) for k, v in given.items()}, past_key_values=cache, use_cache=True)
                found.append(out.logits.numpy())
                cache, start = getattr(out, "past_key_values", None), end
        return np.concatenate(found, 1)


class Ours:
    """What specc makes of a checkpoint: the generated module and the graph. `more`: further arguments of `specc build`."""

    def __init__(self, folder: Path, work: Path, *more: str) -> None:
        spec = work / "imported.specc"
        assert main(["import", str(folder), "-o", str(spec)]) == 0
        assert main(["check", str(spec)]) == 0
        assert main(["build", str(spec), "--to", "torch", "-o", str(work / "torch"), *more]) == 0
        assert main(["build", str(spec), "--to", "onnx", "-o", str(work / "onnx"), "--weights", str(folder), *more]) == 0
        self.spec, self.graph = spec, work / "onnx" / "model.onnx"
        self.text = spec.read_text()
        self.module = load_module(work / "torch" / "imported.py")
        self.network = self.module.Model.from_checkpoint(folder).float().eval()
        self.session = session(self.graph)

    def torch_full(self, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return self.torch_steps(ids, mask, [ids.shape[1]])

    def torch_steps(self, ids: np.ndarray, mask: np.ndarray, pieces: list[int]) -> np.ndarray:
        """The generated module, in pieces."""
        import torch

        cache, found, start = None, [], 0
        for piece in pieces:
            end = start + piece
            with torch.no_grad():
                out = self.network(torch.from_numpy(ids[:, start:end]), attention_mask=torch.from_numpy(mask[:, :end]), cache=cache)
            found.append(out.logits.numpy())
            cache, start = out.cache, end
        return np.concatenate(found, 1)

    def onnx_full(self, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return self.onnx_steps(ids, mask, [ids.shape[1]])

    def onnx_steps(self, ids: np.ndarray, mask: np.ndarray, pieces: list[int]) -> np.ndarray:
        """The graph, in pieces; the first call has a past of length 0."""
        past, found, start = {}, [], 0
        for piece in pieces:
            end = start + piece
            given = {"input_ids": ids[:, start:end], "attention_mask": mask[:, :end], "position_ids": positions(mask)[:, start:end]}
            out = call(self.session, given | past)
            found.append(out["logits"])
            past = {name.replace("present", "past_key_values", 1): v for name, v in out.items() if name.startswith("present")}
            start = end
        return np.concatenate(found, 1)


def load_module(path: Path) -> Any:
    """A generated file, imported under a name of its own."""
    spec = importlib.util.spec_from_file_location(f"generated_by_test_{next(_numbers)}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look up the module they stand in
    spec.loader.exec_module(module)
    return module


def session(graph: Path) -> Any:
    """ONNX Runtime on one CPU thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def call(graph: Any, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """One run: of `given` what the graph asks for, and an empty cache where none is given."""
    batch = given["input_ids"].shape[0]
    feeds = {}
    for wanted in graph.get_inputs():
        if wanted.name in given:
            feeds[wanted.name] = given[wanted.name]
        else:
            assert wanted.name.startswith("past_key_values."), f"the graph asks for {wanted.name}"
            feeds[wanted.name] = np.zeros([n if isinstance(n, int) else batch if n == "batch" else 0 for n in wanted.shape], np.float32)
    return dict(zip([o.name for o in graph.get_outputs()], graph.run(None, feeds), strict=True))
