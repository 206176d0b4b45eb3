"""`specc stats SPEC`: parameters, FLOPs, cache and weight bytes, all counted."""

from __future__ import annotations

import argparse
from typing import Any


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec")
    parser.add_argument("--model", help="which model or adapter of the file")


def run(options: argparse.Namespace) -> int:
    import json

    from specc.faces.loading import one_subject
    from specc.resolve.adapter import ResolvedAdapter
    from specc.tools.adapters import figures as of_adapter
    from specc.tools.analyse import Costs
    from specc.tools.figures import figures

    subject = one_subject(options.spec, options.model)
    if isinstance(subject, ResolvedAdapter):
        found = of_adapter.figures(subject.adapter)
        lines = [f"{found['adapter']} over {found['model']}", "", *_columns(of_adapter.table(found))]
    else:
        found = figures(Costs(subject.model))
        lines = table(found)
    print(json.dumps(found, indent=2) if options.format == "json" else "\n".join(lines))
    return 0


def table(found: dict[str, Any]) -> list[str]:
    """The figures in columns, numbers flush right."""
    from specc.tools.figures import CACHED
    from specc.tools.spell import size as bytes_of

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
    lines += [(f"  {name}", *(bytes_of(sizes[d]) for d in CACHED)) for name, sizes in cache.items()]
    lines += [(), ("weights", "bytes")]
    lines += [(f"  {name}", f"{size:,}", bytes_of(size)) for name, size in found["weight_bytes"].items()]
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

