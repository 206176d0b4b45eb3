"""The proof against the published model: a small random checkpoint made by the library itself, imported as a user would."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from specc.diagnostics.finding import Report, fail
from specc.ir.model import Model
from specc.resolve.model import resolve
from specc.resolve.program import load_source
from specc.source import Source
from specc.tools.importer.config import read_config
from specc.tools.importer.run import import_model
from specc.tools.verify.by_transformers import ByTransformers, published_class, quiet, untie
from specc.tools.verify.run import Proof, one_thread, verify_checkpoint
from specc.tools.verify.small_config import small_config


def imported(source: Path) -> Model:
    """The model that a config (and the checkpoint beside it) stands for."""
    found = import_model(source)
    program = load_source(Source(f"{found.name}.specc", found.text), Path(f"{found.name}.specc"))
    return resolve(program.models[found.name], program, Report()).model


def verify_published(source: Path, model: Model | None = None, seed: int = 0) -> Proof:
    """The family of a config in small sizes, with random weights. A `model` must be what the config says."""
    file, config = read_config(source)
    whole = imported(file)
    if model is not None and _numerics(model) != _numerics(whole):
        raise fail("SYS007", f"`{model.name}` is not the model that {file} describes", None, "compare `specc ir` of both")
    with tempfile.TemporaryDirectory() as name, one_thread():
        folder = Path(name) / whole.name
        folder.mkdir()
        small = small_config(config, whole)
        _checkpoint(folder, small, seed)
        found = imported(folder)
        reference = ByTransformers(folder, tuple(found.outputs), found.stack.causal)
        depth, width = len(found.stack.layers), found.stack.dims.dim
        subject = f"small and random as {type(reference.network).__name__}, {depth} layers, width {width}"
        return verify_checkpoint(found, folder, reference, subject)


def _checkpoint(folder: Path, config: dict[str, Any], seed: int) -> None:
    """Random weights under the published names, none of them neutral, and the config as it was spelt."""
    import torch

    file = folder / "config.json"
    file.write_text(json.dumps(config))
    cls = published_class(folder)
    draw = torch.Generator().manual_seed(seed)
    with quiet():
        model = cls(cls.config_class.from_dict(config)).float()
        with torch.no_grad():
            for parameter in model.parameters():
                noise = torch.randn(parameter.shape, generator=draw)
                parameter.add_(noise / parameter.shape[-1] ** 0.5 if parameter.dim() > 1 else 0.3 * noise)
            if config.get("tie_word_embeddings") is False and hasattr(model, "lm_head"):
                shape = model.lm_head.weight.shape
                untie(model, torch.randn(shape, generator=draw) / shape[-1] ** 0.5)
        model.save_pretrained(folder)
    file.write_text(json.dumps(config))


def _numerics(model: Model) -> dict[str, Any]:
    """What decides a model's numbers: all but names, comments, training and the published layout."""
    stacks = [s.model_dump(exclude={"layers"}) | {"layers": [la.model_dump(exclude={"label"}) for la in s.layers]} for s in model.stacks]
    return {"stacks": stacks, "heads": [head.model_dump() for head in model.heads], "shared_tokens": model.shared_tokens}
