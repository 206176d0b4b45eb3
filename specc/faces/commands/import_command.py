"""`specc import DIR_OR_CONFIG -o X.specc`: a published model to a spec that stands alone."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", help="a folder with config.json (and weights), or a config file")
    parser.add_argument("-o", "--output", help="the spec to write; without it the spec is printed")
    parser.add_argument("--name", help="the model's name in the spec")
    parser.add_argument("--allow", action="append", default=[], metavar="FIELD", help="let a config field pass that the family does not read")
    parser.add_argument("--over", metavar="SPEC", help="the source is a folder with adapter_config.json: the spec of the model that it lies over")
    parser.add_argument("--model", metavar="NAME", help="--over: which model of that spec")


def run(options: argparse.Namespace) -> int:
    from specc.diagnostics import render
    from specc.faces.idle_options import refuse_idle
    from specc.tools.importer.run import import_model
    from specc.tools.output import write_whole

    source = Path(options.source)
    name = options.name or (Path(options.output).stem if options.output and Path(options.output).stem.isidentifier() else None)
    if options.over is not None or (source / "adapter_config.json").is_file():
        imported = _adapter(options, source, name)
    else:
        refuse_idle(options, {"model": None}, "names a model of the spec that --over gives", "--name is what the imported model is called")
        imported = import_model(source, name, frozenset(options.allow))
    if imported.warnings:
        print(render.text(imported.warnings), file=sys.stderr)
    if options.output is None:
        print(imported.text, end="")
        return 0
    write_whole(Path(options.output), imported.text)
    print(f"{options.output}: {'model' if options.over is None else 'adapter'} {imported.name}", file=sys.stderr)
    return 0


def _adapter(options: argparse.Namespace, source: Path, name: str | None):
    """A published adapter, over the model of another spec."""
    from specc.diagnostics.finding import fail
    from specc.faces.loading import one_model
    from specc.tools.importer.adapter.run import import_adapter

    if options.over is None:
        raise fail("SYS006", f"{source} holds an adapter, and an adapter lies over a model", None, "name the model's spec with --over")
    base = one_model(options.over, options.model).model
    out = Path(options.output) if options.output else None
    return import_adapter(source, Path(options.over), base, out, name or "imported", frozenset(options.allow))
