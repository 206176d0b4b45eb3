"""Writes adapters on experts as peft's `target_parameters` has them: the experts of a layer in one tensor."""

from __future__ import annotations

import re
from typing import Any

from specc.components.adapter.base import Method, Site
from specc.diagnostics.finding import fail
from specc.ir.adapter import Adapter
from specc.ir.adapter_slots import layer_of
from specc.weights.adapter.modules import Module
from specc.weights.adapter.published import PREFIX

EXPERTS = re.compile(r"\.experts\.(\d+)\.")
Held = tuple[Method, Site, dict[str, Any]]


def stacked(adapter: Adapter, by_slot: dict[str, Held], known: list[Module], folder: Any) -> tuple[set[str], tuple[int, float] | None]:
    """The experts of each layer in two tensors; their slots, and the rank and alpha that all of them then have."""
    import numpy as np

    layers: dict[int, dict[str, list[Held]]] = {}
    for key, held in by_slot.items():
        if EXPERTS.search(key):
            layers.setdefault(layer_of(key), {}).setdefault(_last(held[1]), []).append(held)
    if not layers:
        return set(), None
    sites_ = {held[1].key for held in by_slot.values() if EXPERTS.search(held[1].key)}
    ranks = {m.rank for layer in layers.values() for group in layer.values() for m, _, _ in group if m.kind == "lora"}
    count = 1 + max(int(EXPERTS.search(key)[1]) for key in by_slot if EXPERTS.search(key))
    if len(ranks) != 1 or any(m.dora for m in adapter.methods if m.kind == "lora"):
        raise fail("ADP011", "peft's experts have one rank and no DoRA")
    names, (rank,) = set(), ranks
    scale = next(iter(next(iter(layers.values())).values()))[0][0].scale
    for number, groups in layers.items():
        module = f"{_layer_name(known, number)}.mlp.experts"
        if not groups.keys() <= {"gate+up", "down"}:
            raise fail("ADP011", "peft keeps an expert's gate and up in one tensor: adapt them as fused(ffn.experts.gate, ffn.experts.up)")
        for role, group in groups.items():
            each = {held[1].key: held for held in group}
            ordered = [each[key] for key in sorted(each, key=lambda key: int(EXPERTS.search(key)[1]))]
            if len(ordered) != count:
                raise fail("ADP011", f"peft adapts every expert of a layer, and of layer {number} only {len(ordered)} have an adapter")
            inner = ".base_layer" if role == "gate+up" and "down" in groups else ""
            at = f"{PREFIX}{module}{inner}"
            folder.tensors[f"{at}.lora_A.weight"] = np.concatenate([own["a"] for _, _, own in ordered])
            parts = [own["b"] * (method.scale / scale) for method, _, own in ordered]
            folder.tensors[f"{at}.lora_B.weight"] = np.stack(parts, axis=2).reshape(parts[0].shape[0], -1)
            names.add("mlp.experts.gate_up_proj" if role == "gate+up" else "mlp.experts.down_proj")
    folder.config["target_parameters"] = sorted(names, reverse=True)
    return {slot for key in sites_ for slot in by_slot if by_slot[slot][1].key == key}, (rank, scale * rank)


def _last(site: Site) -> str:
    return site.key.rpartition(".")[2]


def _layer_name(known: list[Module], number: int) -> str:
    """What the published model calls a layer: the beginning of its modules' names."""
    names = [m.name for m in known if layer_of(m.slots[0]) == number]
    if not any(".mlp." in name or ".block_sparse_moe." in name for name in names):
        raise fail("ADP011", "the published model's experts have no place that specc knows")
    return re.match(r".*?\.\d+(?=\.)", names[0])[0]
