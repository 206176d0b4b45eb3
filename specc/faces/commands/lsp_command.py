"""`specc lsp`: the language server, on stdin and stdout."""

from __future__ import annotations

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stdio", action="store_true", help="talk over stdin and stdout, as it always does; editors pass this")


def run(options: argparse.Namespace) -> int:
    import gc
    import logging
    import sys

    from specc.faces.lsp.server import server

    logging.basicConfig(stream=sys.stderr, level=logging.DEBUG if options.debug else logging.ERROR)
    gc.set_threshold(50_000, 20, 20)  # a syntax tree has no circles, and looking for them would fall between two keys
    server.start_io()
    return 0
