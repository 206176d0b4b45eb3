"""What the page says in numbers: where the parameters are, what the weights weigh, what a cache takes."""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.model import Layer, Model
from specc.ir.wiring import calls
from specc.tools.analyse import BYTES, Costs

DTYPES = ("bf16", "fp16", "fp32", "fp8", "int8", "int4")


@dataclass(frozen=True, slots=True)
class Kept:
    """Values that layers of one sort keep for a sequence: `fixed + per_token * tokens + per_source * source`, `times` times.

    reach: how many tokens back their mask sees, None for all.
    """

    label: str
    times: int
    fixed: int
    per_token: int
    per_source: int
    reach: int | None


def cache(model: Model) -> list[Kept]:
    """What is kept from call to call, layers that are alike together; nothing where nothing is kept."""
    stack = model.stack
    if not stack.causal:
        return []
    found: dict[tuple, int] = {}
    for layer in stack.layers:
        key = (layer.label, *_of_layer(model, layer), layer.mask.reach)
        found[key] = found.get(key, 0) + 1
    return [Kept(key[0], times, *key[1:]) for key, times in found.items() if any(key[1:4])]


def _of_layer(model: Model, layer: Layer) -> tuple[int, int, int]:
    """Values that do not grow, that grow with each token, and with each token that an encoder read."""
    fixed = per_token = per_source = 0
    for assign in layer.block.body:
        for call in calls(assign.value):
            part = layer.instance(call.instance)
            for state in part.component.state(part.dims(model.stack.dims)):
                count = 1
                for extent in state.shape:
                    count *= extent if isinstance(extent, int) else 1
                if "S" in state.shape:
                    per_token += count
                elif "M" in state.shape:
                    per_source += count
                else:
                    fixed += count
    return fixed, per_token, per_source


def shares(costs: Costs) -> list[tuple[str, int, float]]:
    """Every part of the model with its parameters and its share of them all."""
    total = costs.parameters or 1
    return [(part, size, size / total) for part, size in costs.by_part.items()]


def weights(costs: Costs) -> list[tuple[str, int]]:
    return [(dtype, costs.weight_bytes(dtype)) for dtype in DTYPES]


def bytes_per_value() -> dict[str, float]:
    return {dtype: BYTES[dtype] for dtype in DTYPES}
