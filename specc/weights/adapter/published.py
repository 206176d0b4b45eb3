"""The published layout of adapters (adapter_config.json and adapter_model.safetensors): its tensors by this adapter's names.

Names and shapes as the library peft, version 0.21, writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from specc.components.adapter.base import Method, Site
from specc.diagnostics.finding import fail
from specc.ir.adapter import Adapter, sites
from specc.weights.adapter.experts import experts
from specc.weights.adapter.modules import Module, modules
from specc.weights.arrays import cut
from specc.weights.safetensors import read_header
from specc.weights.stored import Part

if TYPE_CHECKING:
    from numpy import ndarray

FILE, PREFIX, PROMPT = "adapter_model.safetensors", "base_model.model.", "prompt_embeddings"


def read_published(folder: Path) -> dict[str, ndarray]:
    """Every tensor of a published folder, in float32."""
    from specc.weights.adapter.held import array_of

    if not (folder / FILE).is_file():
        raise fail("ADP008", f"{folder} holds no {FILE}", help="peft's `save_pretrained` writes it")
    return {name: array_of(info) for name, info in read_header(folder / FILE).items()}


def to_own(adapter: Adapter, tensors: Mapping[str, ndarray]) -> dict[str, ndarray]:
    """Every tensor of the adapter. Raises SpecError where one is missing, or left over."""
    left, found = dict(tensors), {}
    stacked = {slots: (pair, n) for pair in experts(adapter.base, tensors, PREFIX) for n, slots in enumerate(pair.slots)}
    for method in adapter.methods:
        if method.place in ("keys", "tokens"):
            found |= _ahead(adapter, method, left)
    for method, site in adapter.sites():
        slots = tuple(slot.key for slot in site.slots)
        if method.place in ("keys", "tokens"):
            continue
        if not (reader := method.published(site)):
            raise fail("ADP008", f"peft has no `{method.kind}`, so that {FILE} cannot hold it")
        if slots in stacked:
            pair, number = stacked[slots]
            a, b = pair.factors(tensors, number)
            found |= {f"{site.key}.{method.kind}.a": a, f"{site.key}.{method.kind}.b": b}
            left.pop(pair.a, None), left.pop(pair.b, None)
            continue
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


def _ahead(adapter: Adapter, method: Method, left: dict[str, ndarray]) -> dict[str, ndarray]:
    """What stands in front of the tokens, out of the one tensor that holds it all."""
    acting = sites(method, adapter.base)
    if method.shared(acting):
        raise fail("ADP008", f"{FILE} holds keys and values, and not what they came out of", help="leave `reparameterised` out of the spec")
    if PROMPT not in left:
        raise fail("ADP008", f"{FILE} holds no {PROMPT}")
    width = sum(2 * s.heads * s.head_dim for s in acting) if method.place == "keys" else acting[0].width
    if method.place == "tokens" and len(adapter.base.stacks) == 2 and len(left[PROMPT]) == 2 * method.length:
        left[PROMPT] = left[PROMPT][: method.length]  # the second half is for the decoder, and peft makes no use of it
    if left[PROMPT].shape != (method.length, width):
        raise fail("ADP008", f"{PROMPT} is {list(left[PROMPT].shape)}, and this adapter's is [{method.length}, {width}]")
    return method.unpacked(acting, left)


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
