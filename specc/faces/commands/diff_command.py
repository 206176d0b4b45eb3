"""`specc diff OLD NEW`: what a change means for people who hold checkpoints."""

from __future__ import annotations

import argparse

LEVELS = ("renamed", "unchanged", "computes", "convertible", "breaking")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", metavar="OLD", help="a spec file, or REV:path in git, as in HEAD~1:specs/a.specc or main:./a.specc")
    parser.add_argument("new", metavar="NEW", help="the same")
    parser.add_argument("--model", help="compare this model alone; without it all of them, matched by name")
    parser.add_argument(
        "--fail-on",
        choices=LEVELS,
        metavar="LEVEL",
        help="exit with 1 at this level or above: renamed (names and comments), unchanged (a checkpoint computes the same), computes (it"
        " loads and computes something else), convertible, breaking; without it every comparison exits with 0",
    )


def run(options: argparse.Namespace) -> int:
    import json

    from specc.diagnostics import SpecError
    from specc.tools.diff import report
    from specc.tools.diff.files import compare_sides, open_side
    from specc.tools.diff.reason import Level

    try:
        found = compare_sides(open_side(options.old), open_side(options.new), options.model)
    except SpecError:
        if options.format == "markdown":  # findings are not part of the comment
            options.format = "text"
        raise
    if options.format == "json":
        print(json.dumps(report.data(found, options.old, options.new), indent=2, ensure_ascii=False))
    else:
        print(report.markdown(found, options.old, options.new) if options.format == "markdown" else report.text(found))
    if options.fail_on is None:
        return 0
    return int(any(difference.level >= Level[options.fail_on.upper()] for difference in found))
