"""`specc explain CODE`: what a diagnostic means, and a wrong and a right example."""

from __future__ import annotations

import argparse
from textwrap import fill, indent


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("code", nargs="?", help="for example TYP001; without it all codes are listed")


def run(options: argparse.Namespace) -> int:
    import json

    from specc.diagnostics import CODES
    from specc.diagnostics.finding import did_you_mean, fail

    if options.code is None:
        for code in sorted(CODES.values(), key=lambda c: c.id):
            print(f"{code.id}  {code.title}")
        return 0
    code = CODES.get(options.code.upper())
    if code is None:
        raise fail("SYS004", f"no diagnostic has the code {options.code}", None, did_you_mean(options.code.upper(), CODES))
    if options.format == "json":
        print(json.dumps({"code": code.id, "title": code.title, "cause": code.cause, "wrong": code.wrong, "right": code.right}, indent=2))
        return 0
    print(f"{code.id}: {code.title}\n\n{fill(code.cause, 100)}")
    for title, example in (("Wrong", code.wrong), ("Right", code.right)):
        if example:
            print(f"\n{title}:\n\n{indent(example.rstrip(), '    ')}")
    return 0
