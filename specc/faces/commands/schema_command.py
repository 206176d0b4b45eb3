"""`specc schema`: the JSON Schema of what `specc ir` prints."""

from __future__ import annotations

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(options: argparse.Namespace) -> int:
    import json

    from specc.ir.model import Model

    print(json.dumps(Model.model_json_schema(mode="serialization"), indent=2, sort_keys=True))
    return 0
