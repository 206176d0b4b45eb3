"""`specc ir SPEC`: the typed model, complete and explicit, as JSON."""

from __future__ import annotations

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec")
    parser.add_argument("--model", help="which model or adapter of the file")
    parser.add_argument("--fingerprint", action="store_true", help="print the architecture's fingerprint instead")


def run(options: argparse.Namespace) -> int:
    from specc.faces.loading import one_subject
    from specc.resolve.adapter import ResolvedAdapter

    found = one_subject(options.spec, options.model)
    model = found.adapter if isinstance(found, ResolvedAdapter) else found.model
    if not options.fingerprint:
        print(model.model_dump_json(indent=2))
        return 0
    from specc.ir.adapter_print import fingerprint_adapter
    from specc.ir.fingerprint import fingerprint

    found = fingerprint_adapter(model) if isinstance(found, ResolvedAdapter) else fingerprint(model)
    print(f'{{"model": "{model.name}", "fingerprint": "{found}"}}' if options.format == "json" else found)
    return 0
