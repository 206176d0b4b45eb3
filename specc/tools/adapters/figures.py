"""What an adapter trains, and what it leaves frozen."""

from __future__ import annotations

from typing import Any

from specc.ir.adapter import Adapter, sites

BYTES = {"fp32": 4, "bf16": 2, "fp16": 2}


def figures(adapter: Adapter) -> dict[str, Any]:
    """Every figure as plain numbers. kept: what is left of the trained parameters when training is over."""
    frozen = sum(p.size for p in adapter.base.parameters().values() if p.role != "fixed")
    methods: dict[str, int] = {}
    for number, method in enumerate(adapter.methods):
        acting = sites(method, adapter.base)
        held = [p for site in acting for p in method.held(site)] + list(method.shared(acting))
        methods[f"{number}.{method.kind}" if f"{method.kind}" in methods else method.kind] = sum(p.size for p in held)
    trained = sum(methods.values())
    return {
        "adapter": adapter.name,
        "model": adapter.base.name,
        "parameters": {"trained": trained, "frozen": frozen, "methods": methods, "share": trained / (trained + frozen)},
        "places": len(adapter.sites()),
        "weight_bytes": {dtype: trained * size for dtype, size in BYTES.items()},
    }


def table(found: dict[str, Any]) -> list[tuple[str, ...]]:
    """The figures line by line."""
    parameters = found["parameters"]
    lines = [("trained parameters", f"{parameters['trained']:,}"), *((f"  {kind}", f"{size:,}") for kind, size in parameters["methods"].items())]
    lines += [("frozen parameters", f"{parameters['frozen']:,}"), ("share that is trained", f"{100 * parameters['share']:.4g} %")]
    lines += [("places", f"{found['places']:,}"), (), ("weights", "bytes")]
    return [*lines, *((f"  {dtype}", f"{size:,}") for dtype, size in found["weight_bytes"].items())]
