"""A published model with a published adapter on it, both perturbed, and what specc makes of the same files."""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from specc.backends.onnx.write import Laid, write
from specc.backends.torch.adapter.emit import emit_adapter
from specc.backends.torch.emit import emit
from specc.diagnostics.finding import Report
from specc.resolve.adapter import ResolvedAdapter, resolve_adapter
from specc.resolve.program import load
from specc.tools.importer.run import import_model
from specc.weights.adapter.held import open_adapter

VOCAB = 61
NEUTRAL = {"attention_mask", "position_ids"}
# row 1 is padded on the left in a causal model, on the right in the others
IDS = torch.tensor([[5, 17, 3, 44, 9, 60, 2, 31], [0, 0, 0, 8, 21, 33, 7, 14]])


def python(text: str, name: str) -> types.ModuleType:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module


def perturb(parameters: Any, by: float = 0.1) -> None:
    """Every parameter moved, so that each of them tells."""
    with torch.no_grad():
        for parameter in parameters:
            parameter.add_(torch.randn_like(parameter) * by)


def resolved(path: Path, name: str = "bot") -> ResolvedAdapter:
    return resolve_adapter(load(path).adapters[name], load(path), Report())


@dataclass
class Published:
    """The folder of one case: `base` and `adapter` as published, `base.specc` and `bot.specc`; and the adapter's logits."""

    folder: Path
    causal: bool
    ids: torch.Tensor
    mask: torch.Tensor
    want: np.ndarray
    found: ResolvedAdapter | None = None

    # ---- PyTorch

    def model(self) -> torch.nn.Module:
        return python(emit(self.found.base.model), "generated_base").Model.from_checkpoint(self.folder / "base").eval()

    def laid(self, model: torch.nn.Module) -> torch.nn.Module:
        """The generated adapter over the model, with the published weights."""
        made = python(emit_adapter(self.found.adapter), "generated_adapter").Adapter(model)
        held = open_adapter(self.folder / "adapter", self.found.adapter)
        made.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in held.items()})
        return made

    def logits(self, model: torch.nn.Module) -> np.ndarray:
        with torch.no_grad():
            return model(self.ids, attention_mask=self.mask).logits.numpy()

    # ---- ONNX

    def onnx(self, merging: bool) -> np.ndarray:
        """The logits of the graph: with the adapter in its weights, or beside them in ONNX Runtime's own file."""
        import onnxruntime

        out = self.folder / ("merged" if merging else "apart")
        tensors = open_adapter(self.folder / "adapter", self.found.adapter)
        write(self.found.base.model, out, self.folder / "base", over=Laid(self.found.adapter, tensors, merging))
        session, run = opened(out), None
        if not merging:
            held = onnxruntime.LoraAdapter()
            held.Load(str(out / "bot.onnx_adapter"))
            run = onnxruntime.RunOptions()
            run.add_active_adapter(held)
        return session.run(["logits"], self.feeds(session), run)[0]

    def feeds(self, session: Any) -> dict[str, np.ndarray]:
        given = {"input_ids": self.ids, "attention_mask": self.mask, "position_ids": (self.mask.cumsum(-1) - 1).clamp(min=0)}
        found = {}
        for wanted in session.get_inputs():
            if wanted.name in given:
                found[wanted.name] = given[wanted.name].numpy()
            elif wanted.name == "token_type_ids":
                found[wanted.name] = np.zeros_like(self.ids.numpy())
            elif wanted.name.startswith("past_key_values."):
                found[wanted.name] = np.zeros([e if isinstance(e, int) else len(self.ids) if e == "batch" else 0 for e in wanted.shape], np.float32)
        return found

    @property
    def real(self) -> np.ndarray:
        """Which of the tokens are no padding."""
        return self.mask.bool().numpy()


def opened_as(folder: Path, part: str, adapter: str | None) -> Callable[..., Any]:
    """One of the graphs of an encoder-decoder, with its part of an adapter; caches that are not given are empty."""
    import onnxruntime

    session, run = opened(folder, f"{part}_model.onnx"), None
    if adapter is not None and (folder / f"{adapter}.{part}.onnx_adapter").exists():
        held = onnxruntime.LoraAdapter()
        held.Load(str(folder / f"{adapter}.{part}.onnx_adapter"))
        run = onnxruntime.RunOptions()
        run.add_active_adapter(held)

    def call(wanted: list[str], feeds: dict[str, np.ndarray], held: Any = None if adapter is None or run is None else held) -> Any:
        batch = len(feeds["input_ids"])
        empty = {
            i.name: np.zeros([e if isinstance(e, int) else batch if e == "batch" else 0 for e in i.shape], np.float32)
            for i in session.get_inputs()
            if i.name.startswith("past_key_values.") and i.name not in feeds
        }
        return session.run(wanted, feeds | empty, run)

    return call


def opened(folder: Path, name: str = "model.onnx") -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # an input with a default is named in a warning each
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(folder / name), options, providers=["CPUExecutionProvider"])


def publish(folder: Path, make: Callable[[], Any], config: Any, body: str, causal: bool = True, padded: bool = True) -> Published:
    """Writes one case and computes what is wanted of it, in the published libraries alone."""
    import peft

    torch.manual_seed(0)
    model = make()
    perturb(model.parameters())
    model.eval().save_pretrained(folder / "base")
    (folder / "base.specc").write_text(import_model(folder / "base", "base").text, "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peft sets fan_in_fan_out for transposed maps, and says so
        adapted = peft.get_peft_model(model, config)
        perturb(p for p in adapted.parameters() if p.requires_grad)
        adapted.eval().save_pretrained(folder / "adapter")
    ids = IDS if causal else IDS.flip(1)
    mask = (ids != 0).long() if padded else torch.ones_like(ids)
    places = {"position_ids": (mask.cumsum(-1) - 1).clamp(min=0)} if causal and padded else {}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peft calls an argument by its old name
        want = adapted(input_ids=ids, attention_mask=mask, **places).logits.numpy()
    (folder / "bot.specc").write_text(f'adapter bot for "base.specc" {{\n  {body}\n}}\n', "utf-8")
    made = Published(folder, causal, ids, mask, want[:, -ids.shape[1] :])
    made.found = resolved(folder / "bot.specc")
    return made
