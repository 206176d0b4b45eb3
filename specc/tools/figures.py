"""Every figure of a model as plain numbers: parameters, FLOPs, cache and weight bytes, training."""

from __future__ import annotations

from typing import Any

from specc.tools.analyse import Costs

CACHED, STORED = ("bf16", "fp16", "fp32"), ("fp32", "bf16", "fp16", "fp8")


def figures(costs: Costs) -> dict[str, Any]:
    """Every figure as plain numbers."""
    model, context = costs.model, costs.model.stack.dims.context
    if costs.per_image is not None:
        return _of_images(costs)
    tokens = costs.optimal_tokens
    rule, counted = costs.training_flops(tokens)
    flops = {"context 1": costs.flops(1)}
    cache = {"per token": {d: costs.kv_cache(1, d) - costs.kv_cache(0, d) for d in CACHED}} if costs.kv_cache(1) else {}
    if context is not None:
        flops |= {f"mean over {context:,} tokens": costs.forward(context) / context, f"context {context:,}": costs.flops(context)}
    if context is not None and cache:
        cache[f"{context:,} tokens"] = {d: costs.kv_cache(context, d) for d in CACHED}
        cache["  within the masks' reach"] = {d: costs.kv_cache(context, d, reachable=True) for d in CACHED}
    return {
        "model": model.name,
        "parameters": {"total": costs.parameters, "active": costs.active, "parts": costs.by_part},
        "flops_per_token": flops,
        "cache_bytes": cache,
        "weight_bytes": {d: costs.weight_bytes(d) for d in STORED},
        "training": {"tokens": tokens, "flops_6nd": rule, "flops_counted": counted},
    }


def _of_images(costs: Costs) -> dict[str, Any]:
    """The same of a model that reads images: their tokens come at once, and nothing is kept."""
    dims = costs.model.stack.dims
    height, width = dims.image.size
    return {
        "model": costs.model.name,
        "parameters": {"total": costs.parameters, "parts": costs.by_part},
        "flops_per_image": {f"{height} x {width} pixels, {dims.context:,} tokens": costs.per_image},
        "weight_bytes": {d: costs.weight_bytes(d) for d in STORED},
    }
