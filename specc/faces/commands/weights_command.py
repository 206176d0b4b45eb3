"""`specc weights init|convert`: new weights for a spec, or a checkpoint in another layout."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

DTYPES = {"fp32": "F32", "fp16": "F16", "bf16": "BF16"}


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="init|convert")
    init = _action(actions, "init", "write random weights or zeros in specc's own layout")
    init.add_argument("--how", choices=("random", "zeros"), default="random")
    init.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed makes the same weights")
    init.add_argument("--dtype", choices=tuple(DTYPES), default="fp32")
    convert = _action(actions, "convert", "write a checkpoint in another layout, bit for bit")
    convert.add_argument("source", metavar="DIR", help="the checkpoint's folder")
    convert.add_argument("--to", choices=("own", "published"), required=True)
    convert.add_argument("--layout", metavar="NAME", help="published: which `weights` section of the model; the first if not given")


def _action(actions, name: str, help: str) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
    parser.add_argument("spec")
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="the folder to write into")
    parser.add_argument("--model", help="which model of the file; convert: or which adapter")
    parser.add_argument("--format", choices=("text", "json"), default=argparse.SUPPRESS)
    parser.add_argument("--debug", action="store_true", default=argparse.SUPPRESS)
    return parser


def run(options: argparse.Namespace) -> int:
    from specc.diagnostics.finding import fail
    from specc.faces.loading import one_model, one_subject
    from specc.resolve.adapter import ResolvedAdapter

    found = (one_model if options.action == "init" else one_subject)(options.spec, options.model)
    try:
        if isinstance(found, ResolvedAdapter):
            written = _adapter(found.adapter, options)
        else:
            written = (_init if options.action == "init" else _convert)(found.model, options)
    except OSError as error:
        raise fail("SYS005", f"cannot write into {options.output}: {error.strerror or error}") from None
    if options.format == "json":
        import json

        print(json.dumps({"file": str(written), "bytes": written.stat().st_size}))
    else:
        print(written)
    return 0


def _init(model, options: argparse.Namespace) -> Path:
    from specc.weights.init import init

    return init(model, Path(options.output), options.how, options.seed, DTYPES[options.dtype], _progress())


def _convert(model, options: argparse.Namespace) -> Path:
    from specc.faces.idle_options import refuse_idle
    from specc.weights.checkpoint import open_checkpoint
    from specc.weights.convert import to_own, to_published

    checkpoint, out = open_checkpoint(Path(options.source)), Path(options.output)
    if options.to == "own":
        refuse_idle(options, {"layout": None}, "the layout that is read is found by its names")
        return to_own(model, checkpoint, out, _progress())
    return to_published(model, checkpoint, out, options.layout, _progress())


def _adapter(adapter, options: argparse.Namespace) -> Path:
    """An adapter's weights: specc's own file, or peft's folder."""
    from specc.weights.adapter.export import to_published
    from specc.weights.adapter.held import open_adapter, to_own

    tensors, out = open_adapter(Path(options.source), adapter), Path(options.output)
    return to_own(tensors, out) if options.to == "own" else to_published(adapter, tensors, out)


def _progress() -> Callable[[str, int, int], None]:
    from specc.faces.progress import Progress

    return Progress("writing") if sys.stderr.isatty() else lambda name, done, total: None
