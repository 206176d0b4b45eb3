"""The published layout of adapters (adapter_config.json and adapter_model.safetensors): its tensors by this adapter's names.

Names and shapes as the library peft, version 0.21, writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from specc.components.adapter.base import Site
from specc.diagnostics.finding import fail
from specc.ir.adapter import Adapter, sites
from specc.weights.adapter.modules import Module, modules
from specc.weights.arrays import cut
from specc.weights.stored import Part

if TYPE_CHECKING:
    from numpy import ndarray

FILE, PREFIX, PROMPT = "adapter_model.safetensors", "base_model.model.", "prompt_embeddings"


def to_own(adapter: Adapter, tensors: Mapping[str, ndarray]) -> dict[str, ndarray]:
    """Every tensor of the adapter. Raises SpecError where one is missing, or left over."""
    left, found = dict(tensors), {}
    for method in adapter.methods:
        if method.place in ("keys", "tokens"):
            if method.shared(sites(method, adapter.base)):
                raise fail("ADP008", f"{FILE} holds keys and values, and not what they came out of", help="leave `reparameterised` out of the spec")
            if PROMPT not in left:
                raise fail("ADP008", f"{FILE} holds no {PROMPT}")
            found |= method.unpacked(sites(method, adapter.base), left)
    for method, site in adapter.sites():
        if method.place in ("keys", "tokens"):
            continue
        reader = method.published(site)
        module = _module_of(adapter, site, left, reader)
        for own, how in reader.items():
            array = left.pop(f"{PREFIX}{module.name}.{how.suffix}")
            if how.extents is not None and array.ndim == len(how.extents) and all(e in (-1, n) for e, n in zip(how.extents, array.shape, strict=True)):
                array = array.reshape(-1)
            found[f"{site.key}.{method.kind}.{own}"] = array if how.axis is None else _rows(array, module, site)
    left = {name: t for name, t in left.items() if not name.endswith(".base_layer.weight")}
    if left:
        raise fail("ADP008", f"the adapter `{adapter.name}` has no place for {', '.join(sorted(left)[:5])} of {FILE}")
    return found


def _module_of(adapter: Adapter, site: Site, tensors: Mapping[str, ndarray], reader: Mapping) -> Module:
    """The published module that a site is. Raises SpecError where the file does not hold it."""
    slots = {slot.key for slot in site.slots}
    known = [m for w in adapter.base.weights for m in modules(adapter.base, w).values() if set(m.slots) == slots]
    for module in known:
        if all(f"{PREFIX}{module.name}.{how.suffix}" in tensors for how in reader.values()):
            return module
    looked = f"looked for {PREFIX}{known[0].name}.*" if known else "no `weights` section of the model names it as one module"
    raise fail("ADP008", f"{FILE} has no tensors for `{site.key}`: {looked}")


def _rows(array: ndarray, module: Module, site: Site) -> ndarray:
    """Rows of a fused module in the order of the site's slots."""
    import numpy as np

    if len(module.slots) == 1:
        return array
    sizes = {slot.key: slot.rows for slot in site.slots}
    rows = tuple((key, sizes[key]) for key in module.slots)
    groups = module.groups or next(iter(sizes.values()))
    return np.concatenate([cut(array, Part(slot.key, rows, groups)) for slot in site.slots])
