"""`specc check SPEC...`: every finding of every file, and whether the models' checks hold."""

from __future__ import annotations

import argparse
import sys


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("specs", nargs="+", metavar="SPEC", help="spec files, or folders that hold some")


def run(options: argparse.Namespace) -> int:
    import gc

    from specc.diagnostics import SpecError, render
    from specc.faces.loading import spec_files
    from specc.tools.check import check_file

    gc.set_threshold(50_000, 20, 20)  # a syntax tree has no circles, and looking for them takes a third of the time
    found, models = [], 0
    for path in spec_files(options.specs):
        try:
            count, report = check_file(path)
            models += count
            found += report.found
        except SpecError as error:
            found += error.diagnostics
    found = list(dict.fromkeys(found))
    errors = [d for d in found if d.severity == "error"]
    if options.format == "json":
        print(render.as_json(found))
    elif found:
        print(render.text(found), file=sys.stderr)
    if any(d.code.startswith("SYS") for d in errors):
        return 2
    if options.format == "text" and not errors:
        print(f"{_count(models, 'model')} checked, {_count(len(found), 'warning') if found else 'nothing wrong'}")
    return 1 if errors else 0


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
