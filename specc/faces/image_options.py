"""What the commands that look at images have in common: their options, and the files they name as pictures."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path


def add_preparation(parser: argparse._ArgumentGroup) -> None:
    """How an image file is prepared, where the folder's preprocessor_config.json does not say so or is to be overruled."""
    parser.add_argument("--size", metavar="H,W", help="scale an image to this size, nothing cut off")
    parser.add_argument("--mean", metavar="R,G,B", help="taken off each colour, of 0 to 1")
    parser.add_argument("--std", metavar="R,G,B", help="each colour is divided by it then")


def pictures(graph, files: list[str], options: argparse.Namespace) -> Iterator:
    """Each file as the graph takes it, one after the other. Raises SpecError."""
    from specc.tools.runtime.images import looks_of, read_picture
    from specc.tools.runtime.pictures import is_array, preparation

    looks_of(graph)
    paths = [Path(file) for file in files]
    how = None if all(map(is_array, paths)) else preparation(graph.folder, options.size, options.mean, options.std)
    for path in paths:
        yield read_picture(graph, path, how)
