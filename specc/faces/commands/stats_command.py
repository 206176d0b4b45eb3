"""`specc stats SPEC`: parameters, FLOPs, cache and weight bytes, all counted."""

from __future__ import annotations

import argparse
from typing import Any

CACHED, STORED = ("bf16", "fp16", "fp32"), ("fp32", "bf16", "fp16", "fp8")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec")
    parser.add_argument("--model", help="which model of the file")


def run(options: argparse.Namespace) -> int:
    import json

    from specc.faces.loading import one_model
    from specc.tools.analyse import Costs

    found = figures(Costs(one_model(options.spec, options.model).model))
    print(json.dumps(found, indent=2) if options.format == "json" else "\n".join(table(found)))
    return 0


def figures(costs: Any) -> dict[str, Any]:
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


def _of_images(costs: Any) -> dict[str, Any]:
    """The same of a model that reads images: their tokens come at once, and nothing is kept."""
    dims = costs.model.stack.dims
    height, width = dims.image.size
    return {
        "model": costs.model.name,
        "parameters": {"total": costs.parameters, "parts": costs.by_part},
        "flops_per_image": {f"{height} x {width} pixels, {dims.context:,} tokens": costs.per_image},
        "weight_bytes": {d: costs.weight_bytes(d) for d in STORED},
    }


def table(found: dict[str, Any]) -> list[str]:
    """The figures in columns, numbers flush right."""
    parameters, training = found["parameters"], found.get("training")
    lines: list[tuple[str, ...]] = [("parameters", f"{parameters['total']:,}")]
    lines += [(f"  {part}", f"{size:,}") for part, size in parameters["parts"].items()]
    lines += [("active for a token", f"{parameters['active']:,}")] if "active" in parameters else []
    lines.append(())
    for what in ("token", "image"):
        if flops := found.get(f"flops_per_{what}"):
            lines += [(f"FLOPs per {what}", "forward"), *((f"  {name}", f"{value:,.0f}") for name, value in flops.items())]
    cache = found.get("cache_bytes", {})
    lines += [(), ("cache", *CACHED)] if cache else []
    lines += [(f"  {name}", *(_bytes(sizes[d]) for d in CACHED)) for name, sizes in cache.items()]
    lines += [(), ("weights", "bytes")]
    lines += [(f"  {name}", f"{size:,}", _bytes(size)) for name, size in found["weight_bytes"].items()]
    if training is None:
        return [found["model"], "", *_columns(lines)]
    lines += [(), ("training, 20 tokens per parameter", f"{training['tokens']:,}")]
    lines += [("  FLOPs, 6 x active parameters x tokens", f"{training['flops_6nd']:.3e}")]
    if training["flops_counted"] is not None:
        lines += [("  FLOPs counted, full contexts", f"{training['flops_counted']:.3e}")]
    return [found["model"], "", *_columns(lines)]


def _columns(lines: list[tuple[str, ...]]) -> list[str]:
    count = max(map(len, lines))
    widths = [max((len(line[n]) for line in lines if len(line) > n), default=0) for n in range(count)]
    return ["  ".join(c.ljust(w) if not n else c.rjust(w) for n, (c, w) in enumerate(zip(line, widths, strict=False))) for line in lines]


def _bytes(size: int) -> str:
    """Bytes in the largest binary unit that leaves at least one of it."""
    for unit, power in (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << power:
            return f"{size / (1 << power):,.4g} {unit}"
    return f"{size} B"
