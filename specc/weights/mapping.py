"""Where each parameter of a model lies in a checkpoint: layout recognised, every name, shape and copy checked."""

from __future__ import annotations

from specc.diagnostics.finding import fail
from specc.ir.model import Model
from specc.ir.weights import WeightMap, spellings
from specc.weights.checkpoint import Checkpoint
from specc.weights.placing import Placing
from specc.weights.rules import Candidate, candidates
from specc.weights.safetensors import TensorInfo
from specc.weights.stored import Part, Placement, Stored
from specc.weights.wording import listed

__all__ = ["Part", "Placement", "Stored", "place"]


def place(model: Model, checkpoint: Checkpoint) -> Placement:
    """Each parameter's tensor. SpecError with everything that does not fit."""
    parameters, tensors = model.parameters(), checkpoint.tensors
    own = {key: [Candidate((key,), False)] for key in parameters}
    if all(key in tensors for key, parameter in parameters.items() if parameter.role == "learned"):
        return Placing(parameters, checkpoint, "own", own).run()
    for weight_map in model.weights:
        found = candidates(weight_map, parameters)
        if (root := _root(weight_map, found, tensors)) is not None:
            return Placing(parameters, checkpoint, weight_map.name, found, root, weight_map.ignore).run()
    if any(key in tensors for key in parameters):
        return Placing(parameters, checkpoint, "own", own).run()
    held = f"the checkpoint holds {listed([f'`{name}`' for name in sorted(tensors)])}" if tensors else "the checkpoint holds no tensor"
    known = " or ".join(f"`weights {weight_map.name}`" for weight_map in model.weights)
    raise fail(
        "WGT009",
        f"the checkpoint's names fit no layout of model `{model.name}`, neither specc's own"
        + (f" nor {known}" if known else "")
        + f"; {held}",
        help=f"say in a `weights` section of `{model.name}` how the checkpoint names its tensors",
    )


def _root(weight_map: WeightMap, found: dict[str, list[Candidate]], tensors: dict[str, TensorInfo]) -> str | None:
    """The first root under which any name is present; None where no name is, with or without root."""
    whole, names = set(), set()  # a name that no root stands in front of says nothing about the root
    for name in (name for ways in found.values() for way in ways for name in way.names):
        (whole if name.startswith("/") else names).add(name)
    for root in (*weight_map.root, ""):
        if any(spellings(name, root)[0] in tensors for name in names):
            return root
    return "" if any(name[1:] in tensors for name in whole) else None
