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


def run(options: argparse.Namespace) -> int:
    from specc.diagnostics import render
    from specc.tools.importer.run import import_model
    from specc.tools.output import write_whole

    source = Path(options.source)
    name = options.name or (Path(options.output).stem if options.output and Path(options.output).stem.isidentifier() else None)
    imported = import_model(source, name, frozenset(options.allow))
    if imported.warnings:
        print(render.text(imported.warnings), file=sys.stderr)
    if options.output is None:
        print(imported.text, end="")
        return 0
    write_whole(Path(options.output), imported.text)
    print(f"{options.output}: model {imported.name}", file=sys.stderr)
    return 0
