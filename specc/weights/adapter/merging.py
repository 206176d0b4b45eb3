"""What an adapter makes of a model's own weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from specc.diagnostics.finding import fail
from specc.ir.adapter import Adapter, stays
from specc.weights.adapter.held import of_site
from specc.weights.arrays import load, narrowed
from specc.weights.stored import Stored

if TYPE_CHECKING:
    from numpy import ndarray


def merged(adapter: Adapter, tensors: Mapping[str, ndarray], stored: Mapping[str, Stored]) -> dict[str, ndarray]:
    """Every parameter that changes, in the type it is stored in (BF16 as its bits), by its key in the state dict.

    Raises SpecError where the adapter is more than a change of weights.
    """
    if (reason := stays(adapter)) is not None:
        raise fail("ADP007", reason, help="leave --merge out: the graph then takes the adapter beside its weights")
    changed: dict[str, ndarray] = {}

    def now(key: str) -> ndarray | None:
        if key in changed or key not in stored:
            return changed.get(key)
        return load(stored[key], widen=True).astype("float32")

    for method, site in adapter.sites():
        own = of_site(dict(tensors), site.key, method.kind)
        for number, slot in enumerate(site.slots):
            names = [f"{slot.key}.weight"] + [f"{slot.key}.bias"] * slot.bias
            made = method.merged(site, number, now(names[0]), now(names[1]) if slot.bias else None, own)
            changed |= dict(zip(names, made, strict=False))
    for key in list(changed):
        for other in _beside(key, stored):
            if other not in changed:
                changed[other] = now(other)
    return {key: narrowed(array, stored[key].tensor.dtype) for key, array in changed.items()}


def _beside(key: str, stored: Mapping[str, Stored]) -> list[str]:
    """What else lies in the fused tensor that the parameter is a part of, and the bias of each: a graph cuts it whole."""
    if stored[key].part is None:
        return []
    found = [other for other, s in stored.items() if s.part is not None and s.tensor == stored[key].tensor]
    biases = [f"{other.removesuffix('.weight')}.bias" for other in found if other.endswith(".weight")]
    return [*found, *(bias for bias in biases if bias in stored)]

