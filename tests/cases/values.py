"""A small spec with given weights, computed by both back ends: what its layers answer, and the keys and values they keep."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from specc.diagnostics import Report, SpecError
from specc.ir.model import Model
from specc.resolve.model import resolve
from specc.resolve.program import load_source
from specc.resolve.values import Record
from specc.source import Source
from specc.tools.importer.families import family_of
from specc.tools.importer.run import import_model
from tests.harness import model_of
from tests.reference.published import call, load_module, positions, session


@dataclass(frozen=True)
class Answer:
    """out [B, T, C] or logits; keys and values of the first layer [B, H, S, D]."""

    out: np.ndarray
    key: np.ndarray | None
    value: np.ndarray | None


def answers(text: str, weights: dict[str, Any], ids: Any, mask: Any = None, pieces: list[int] | None = None, **more: Any) -> dict[str, Answer]:
    """Both back ends' answers. A parameter that is not given is zero. more: further inputs of every call."""
    model, ids = model_of(text), np.array(ids, np.int64)
    known = model.parameters()
    assert weights.keys() <= known.keys(), sorted(weights.keys() - known.keys())
    filled = {key: np.zeros(p.shape, np.float32) for key, p in known.items()}
    for key, value in weights.items():
        filled[key] = np.broadcast_to(np.array(value, np.float32), known[key].shape).copy()
    mask = np.ones_like(ids) if mask is None else np.array(mask, np.int64)
    sizes, more = pieces or [ids.shape[1]], {name: np.array(value, np.int64) for name, value in more.items()}
    with tempfile.TemporaryDirectory() as folder:
        return {
            "torch": _torch(model, filled, ids, mask, sizes, Path(folder), more),
            "onnx": _onnx(model, filled, ids, mask, sizes, Path(folder), more),
        }


def _torch(model: Model, weights: dict[str, np.ndarray], ids: np.ndarray, mask: np.ndarray, sizes: list[int], folder: Path, inputs: dict[str, np.ndarray]) -> Answer:
    import torch

    from specc.backends.torch.emit import emit

    torch.set_num_threads(1)
    (folder / "generated.py").write_text(emit(model))
    network = load_module(folder / "generated.py").Model()
    network.load_state_dict({key: torch.from_numpy(value) for key, value in weights.items()})
    network.eval()
    found, cache, start = [], None, 0
    for size in sizes:
        end = start + size
        more = {name: torch.from_numpy(value) for name, value in inputs.items()} | ({} if cache is None else {"cache": cache})
        with torch.no_grad():
            out = network(torch.from_numpy(ids[:, start:end]), attention_mask=torch.from_numpy(mask[:, :end]), **more)
        logits = getattr(out, "logits", None)
        found.append((out.last_hidden_state if logits is None else logits).numpy())
        cache, start = getattr(out, "cache", None), end
    first = None if cache is None else cache[0]
    return Answer(np.concatenate(found, 1), *(None, None) if first is None else (first[0].numpy(), first[1].numpy()))


def _onnx(model: Model, weights: dict[str, np.ndarray], ids: np.ndarray, mask: np.ndarray, sizes: list[int], folder: Path, inputs: dict[str, np.ndarray]) -> Answer:
    from specc.backends.onnx.emit import graphs
    from specc.weights.mapping import Stored
    from specc.weights.own import own_layout

    header, tensors = own_layout(model)
    content = bytearray(header)
    for key in sorted(tensors, key=lambda key: tensors[key].offset):
        content += weights[key].tobytes()
    (folder / "weights.safetensors").write_bytes(content)
    (folder / "model.onnx").write_bytes(graphs(model, {key: Stored(tensor) for key, tensor in tensors.items()})["model.onnx"].SerializeToString())
    graph = session(folder / "model.onnx")
    found, out, past, start = [], {}, {}, 0
    for size in sizes:
        end = start + size
        given = {"input_ids": ids[:, start:end], "attention_mask": mask[:, :end], "position_ids": positions(mask)[:, start:end]}
        out = call(graph, given | inputs | past)
        found.append(next(out[n] for n in ("logits", "last_hidden_state") if n in out))
        past = {name.replace("present", "past_key_values", 1): v for name, v in out.items() if name.startswith("present")}
        start = end
    return Answer(np.concatenate(found, 1), out.get("present.0.key"), out.get("present.0.value"))


def family_model(config: dict[str, Any], tensors: frozenset[str] | None = None) -> Model:
    """The model that a family makes of a config."""
    program, definition = family_of(config["model_type"])
    return resolve(definition, program, Report(), Record(config), tensors).model


def imported(config: dict[str, Any]) -> Model:
    """The model of the spec that an import of the config prints."""
    text = imported_text(config)
    program = load_source(Source("imported.specc", text), Path("imported.specc"))
    return resolve(program.models[program.own[-1]], program, Report()).model


def imported_text(config: dict[str, Any]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(config))
        return import_model(Path(folder), "imported").text


def refusal(config: dict[str, Any]) -> list[tuple[str, str]]:
    """Code and message of every error of an import that is refused."""
    try:
        imported_text(config)
    except SpecError as error:
        return [(d.code, d.message) for d in error.diagnostics if d.severity == "error"]
    return []


def kept(config: dict[str, Any]) -> list[str]:
    """The warnings of an import that goes through."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(config))
        return [d.message for d in import_model(Path(folder), "imported").warnings]


def shapes(config: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """The parameters of the imported model by key."""
    return {key: p.shape for key, p in imported(config).parameters().items()}


def count(config: dict[str, Any]) -> int:
    """Learned values, ties once."""
    return sum(p.size for p in imported(config).parameters().values() if p.role != "fixed")
