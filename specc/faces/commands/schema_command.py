"""`specc schema`: the JSON Schema of what `specc ir` prints."""

from __future__ import annotations

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("of", nargs="?", choices=("model", "adapter"), default="model", help="what `specc ir` prints: a model, or an adapter over one")


def run(options: argparse.Namespace) -> int:
    import json

    from specc.ir.schema import json_schema

    print(json.dumps(json_schema(options.of), indent=2, sort_keys=True))
    return 0
