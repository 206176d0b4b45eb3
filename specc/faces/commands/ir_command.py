"""`specc ir SPEC`: the typed model, complete and explicit, as JSON."""

from __future__ import annotations

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec")
    parser.add_argument("--model", help="which model of the file")


def run(options: argparse.Namespace) -> int:
    from specc.faces.loading import one_model

    print(one_model(options.spec, options.model).model.model_dump_json(indent=2))
    return 0
