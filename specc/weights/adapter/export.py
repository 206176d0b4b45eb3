"""Writes an adapter as peft's folder: adapter_config.json and adapter_model.safetensors."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specc.components.adapter.base import Site
from specc.diagnostics.finding import fail
from specc.ir.adapter import Adapter, sites
from specc.weights.adapter.export_experts import Held, stacked
from specc.weights.adapter.held import of_site
from specc.weights.adapter.modules import Module, modules
from specc.weights.adapter.published import FILE, PREFIX
from specc.weights.arrays import joined
from specc.weights.write import write

if TYPE_CHECKING:
    from numpy import ndarray

KINDS = {"lora": "LORA", "ia3": "IA3", "prefix": "PREFIX_TUNING", "prompt": "PROMPT_TUNING"}
TASKS = {"lm": "CAUSAL_LM", "hidden": "FEATURE_EXTRACTION", "pooled": "FEATURE_EXTRACTION", "classify": "SEQ_CLS", "classify_tokens": "TOKEN_CLS"}


@dataclass(slots=True)
class Folder:
    """What is to be written."""

    tensors: dict[str, ndarray] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)


def to_published(adapter: Adapter, tensors: Mapping[str, ndarray], out: Path) -> Path:
    """The folder, one method of it: peft's folder holds one. Raises SpecError for what it cannot hold."""
    kinds = {method.kind for method in adapter.methods}
    kind = next(iter(kinds))
    if len(kinds) > 1 or kind not in KINDS:
        raise fail("ADP011", f"peft's folder holds one method of its own, and `{adapter.name}` has {', '.join(sorted(kinds))}")
    folder = Folder(config={"peft_type": KINDS[kind], "base_model_name_or_path": None, "inference_mode": True})
    if kind in ("prefix", "prompt"):
        _ahead(adapter, adapter.settled(dict(tensors)), folder)
    else:
        _maps(adapter, dict(tensors), folder)
    out.mkdir(parents=True, exist_ok=True)
    entries = [(name, "F32", array.shape) for name, array in folder.tensors.items()]
    written = write(out, FILE, entries, lambda name: [_bytes(folder.tensors[name])])
    (out / "adapter_config.json").write_text(json.dumps(folder.config, indent=2, sort_keys=True) + "\n", "utf-8")
    return written


def _bytes(array: ndarray) -> bytes:
    import numpy as np

    return np.ascontiguousarray(array, "<f4").tobytes()


def _ahead(adapter: Adapter, tensors: dict[str, ndarray], folder: Folder) -> None:
    method, stack = adapter.methods[0], adapter.base.stack
    acting = sites(method, adapter.base)
    if (packed := method.packed(acting, tensors)) is None:
        raise fail("ADP011", "peft gives some layers of a decoder the same keys and values, and here they differ")
    folder.tensors = packed
    if method.place == "tokens" and len(adapter.base.stacks) == 2:  # peft keeps rows for the decoder too, and makes no use of them
        import numpy as np

        folder.tensors = {name: np.concatenate([rows, rows]) for name, rows in folder.tensors.items()}
    kinds = [TASKS[head.component.kind] for head in adapter.base.heads if head.component.kind in TASKS]
    folder.config |= {"num_virtual_tokens": method.length, "task_type": kinds[0] if kinds else "FEATURE_EXTRACTION", "num_layers": stack.dims.depth}
    folder.config |= {"num_transformer_submodules": len(adapter.base.stacks), "token_dim": acting[0].width}
    if len(adapter.base.stacks) == 2:
        folder.config["task_type"] = "SEQ_2_SEQ_LM"
    folder.config["num_attention_heads"] = acting[0].heads or 1
    if method.place == "keys":
        if len({(site.heads, site.head_dim) for site in acting}) > 1:
            raise fail("ADP011", "the layers' keys differ in shape, and peft's prefix has one for all")
        folder.config |= {"token_dim": acting[0].heads * acting[0].head_dim, "prefix_projection": False}


def _maps(adapter: Adapter, tensors: dict[str, ndarray], folder: Folder) -> None:
    """Each published module with what acts on its slots."""
    by_slot: dict[str, Held] = {}
    for method, site in adapter.sites():
        held = (method, site, of_site(tensors, site.key, method.kind))
        by_slot |= {slot.key: held for slot in site.slots}
    known = _modules(adapter)
    done, of_experts = stacked(adapter, by_slot, known, folder)
    targets, inward, ranks, alphas = [], [], {}, {}
    for module in known:
        inside = [by_slot[key] for key in module.slots if key in by_slot]
        if not inside or module.slots[0] in done:
            continue
        done |= set(module.slots)
        method, site, _ = inside[0]
        if {len(held[1].slots) for held in inside} != {1} and any(not {s.key for s in held[1].slots} <= set(module.slots) for held in inside):
            raise fail("ADP011", f"`{site.key}` is no part of one published module")
        targets.append(module.name)
        if method.kind == "ia3":
            folder.tensors |= _scales(adapter, module, by_slot)
            inward += [module.name] * site.on_input
        else:
            found = _factors(adapter, module, by_slot)
            ranks[module.name], alphas[module.name] = found.pop("rank"), found.pop("alpha")
            folder.tensors |= {f"{PREFIX}{module.name}.{name}": array for name, array in found.items()}
    if missing := sorted(by_slot.keys() - done):
        raise fail("ADP011", f"the `weights` section of the model names no published module for {', '.join(missing[:5])}")
    folder.config["target_modules"] = targets or None
    if adapter.methods[0].kind == "ia3":
        folder.config["feedforward_modules"] = inward
        return
    doras = {method.dora for method in adapter.methods}
    if len(doras) > 1:
        raise fail("ADP011", "peft's folder is DoRA as a whole or not at all")
    rank, alpha = of_experts or (max(ranks.values()), next(iter(alphas.values())))
    folder.config |= {"r": rank, "lora_alpha": _plain(alpha), "use_dora": doras.pop(), "use_rslora": False, "bias": "none"}
    folder.config |= {"rank_pattern": {f"^{n}": r for n, r in _escaped(ranks)}, "alpha_pattern": {f"^{n}": a for n, a in _escaped(alphas)}, "lora_dropout": 0.0}


def _plain(alpha: float) -> float:
    return int(round(alpha)) if math.isclose(alpha, round(alpha)) else alpha


def _escaped(values: Mapping[str, Any]):
    return ((name.replace(".", r"\."), value) for name, value in values.items())


def _modules(adapter: Adapter) -> list[Module]:
    """Every published module once, under the name that the model's class gives it."""
    if not adapter.base.weights:
        raise fail("ADP011", f"the model `{adapter.base.name}` has no `weights` section, which says what published modules are called")
    bare = all(head.component.kind in ("hidden", "pooled") for head in adapter.base.heads)
    first: dict[tuple[str, ...], Module] = {}
    known = list(modules(adapter.base, adapter.base.weights[0]).values())
    for module in reversed(known) if bare else known:
        first.setdefault(module.slots, module)
    return list(first.values())


def _rows(adapter: Adapter, module: Module) -> dict[str, int]:
    parameters = adapter.base.parameters()
    return {key: parameters[f"{key}.weight"].shape[0] for key in module.slots}


def _joined(pieces: dict[str, Any], module: Module, rows: dict[str, int]) -> Any:
    """Rows of each slot in the order of the module's tensor."""
    return joined(pieces, module.slots, module.groups or min(rows.values()))


def _scales(adapter: Adapter, module: Module, by_slot: dict[str, Held]) -> dict[str, ndarray]:
    import numpy as np

    rows = _rows(adapter, module)
    if by_slot.get(module.slots[0], next(iter(by_slot.values())))[1].on_input:
        return {f"{PREFIX}{module.name}.ia3_l": by_slot[module.slots[0]][2]["input"].reshape(1, -1)}
    pieces = {}
    for key in module.slots:
        pieces[key] = np.ones(rows[key], "float32")
        if key in by_slot:
            _, site, own = by_slot[key]
            pieces[key] = own["output"][slice(*site.span(_number(site, key)))]
    return {f"{PREFIX}{module.name}.ia3_l": _joined(pieces, module, rows).reshape(-1, 1)}


def _factors(adapter: Adapter, module: Module, by_slot: dict[str, Held]) -> dict[str, Any]:
    """A and B of a module. Sites with factors of their own stand in it one under the other, their scales in B."""
    import numpy as np

    inside = {by_slot[key][1].key: by_slot[key] for key in module.slots if key in by_slot}
    first, site, own = next(iter(inside.values()))
    if site.table:
        return {"lora_embedding_A": own["a"], "lora_embedding_B": own["b"], "rank": first.rank, "alpha": first.scale * first.rank}
    rows, rank = _rows(adapter, module), sum(method.rank for method, _, _ in inside.values())
    pieces = {key: np.zeros((count, rank), "float32") for key, count in rows.items()}
    at = 0
    for method, place, held in inside.values():
        for number, slot in enumerate(place.slots):
            pieces[slot.key][:, at : at + method.rank] = held["b"][slice(*place.span(number))] * (method.scale / first.scale)
        at += method.rank
    found = {"lora_A.weight": np.concatenate([held["a"] for _, _, held in inside.values()]), "lora_B.weight": _joined(pieces, module, rows)}
    if first.dora:
        if len(inside) > 1 or {slot.key for slot in site.slots} != set(module.slots):
            raise fail("ADP011", f"DoRA on a part of {module.name} has lengths for that part only")
        magnitude = {slot.key: own["magnitude"][slice(*site.span(n))] for n, slot in enumerate(site.slots)}
        found["lora_magnitude_vector"] = _joined(magnitude, module, rows)
    alpha = first.scale * rank
    return found | {"rank": rank, "alpha": _plain(alpha)}


def _number(site: Site, key: str) -> int:
    return next(number for number, slot in enumerate(site.slots) if slot.key == key)
