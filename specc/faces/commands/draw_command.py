"""`specc draw SPEC -o model.html`: the architecture as a picture, with its figures."""

from __future__ import annotations

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec")
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="a page (.html) or the picture alone (.svg)")
    parser.add_argument("--model", help="which model of the file")


def run(options: argparse.Namespace) -> int:
    from pathlib import Path

    from specc.diagnostics.finding import fail
    from specc.faces.loading import one_model
    from specc.tools.draw.image import svg
    from specc.tools.draw.page import page
    from specc.tools.output import write_whole

    out = Path(options.out)
    made = {".html": page, ".htm": page, ".svg": svg}.get(out.suffix.lower())
    if made is None:
        raise fail("SYS003", f"cannot tell from the name {out} what to draw", None, "it ends in .html or .svg")
    write_whole(out, made(one_model(options.spec, options.model).model))
    print(out)
    return 0
