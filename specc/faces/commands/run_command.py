"""`specc run DIR`: text that a built causal model writes, or what a built encoder says of a text or an image."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from specc.faces.image_options import add_preparation

NEW = 128
GENERATING = ("max_new_tokens", "temperature", "top_k", "top_p", "seed", "chunk")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="holds the model.onnx that `specc build --to onnx` wrote")
    given = parser.add_argument_group("inputs (each may be given several times: a batch)")
    given.add_argument("--prompt", action="append", metavar="TEXT", help="a text that a causal model goes on with")
    given.add_argument("--text", action="append", metavar="TEXT", help="a text for an encoder or a classifier")
    given.add_argument("--ids", action="append", metavar="1,2,3", help="token ids instead of a text; ids are printed")
    given.add_argument("--image", action="append", metavar="FILE", help="an image for a model of images, or its pixel values as an .npy file")
    add_preparation(parser.add_argument_group("images (what preprocessor_config.json says, if these are not given)"))
    new = parser.add_argument_group("generation (greedy unless temperature, top-k or top-p is given)")
    new.add_argument("--max-new-tokens", type=int, metavar="N", help=f"at most so many; {NEW} if not given")
    new.add_argument("--temperature", type=float, metavar="T", help="divides the logits; 0 is greedy")
    new.add_argument("--top-k", type=int, metavar="K", help="draw from the K likeliest tokens")
    new.add_argument("--top-p", type=float, metavar="P", help="draw from the likeliest tokens that together reach P")
    new.add_argument("--seed", type=int, metavar="N", help="of the draws; 0 if not given")
    new.add_argument("--chunk", type=int, metavar="N", help="tokens of the prompt that are passed at once; 256 if not given")
    parser.add_argument("--provider", choices=("auto", "cpu", "cuda"), default="auto", help="where it runs; auto takes CUDA where it loads")
    parser.add_argument("--fast-start", action="store_true", help="open at once and run a little slower: weights stay mapped, not repacked")


def run(options: argparse.Namespace) -> int:
    from specc.diagnostics.finding import fail
    from specc.tools.runtime.session import open_graph

    kinds = [name for name in ("prompt", "text", "ids", "image") if getattr(options, name) is not None]
    if len(kinds) != 1:
        problem = f"{' and '.join('--' + kind for kind in kinds)} do not go together" if kinds else "there is no input"
        raise fail("SYS022", problem, None, "give --prompt, --text, --ids or --image, each as often as you like")
    graph = open_graph(Path(options.folder), options.provider, options.fast_start)
    print(graph.remark, file=sys.stderr)
    if kinds == ["prompt"] or (kinds == ["ids"] and graph.heads == ("lm",)):
        return _generate(graph, options)
    if unused := [f"--{name.replace('_', '-')}" for name in GENERATING if getattr(options, name) is not None]:
        raise fail("SYS022", f"{', '.join(unused)} is for generating, and nothing is generated from --{kinds[0]} here")
    if kinds == ["image"]:
        from specc.faces.image_output import print_images

        print_images(graph, options)
        return 0
    if given := [f"--{name}" for name in ("size", "mean", "std") if getattr(options, name) is not None]:
        raise fail("SYS022", f"{', '.join(given)} belongs to --image")
    return _encode(graph, options)


def _generate(graph, options: argparse.Namespace) -> int:
    from specc.faces.run_output import Printer
    from specc.tools.runtime.generate import CHUNK, generate
    from specc.tools.runtime.inputs import parse_ids
    from specc.tools.runtime.settings import end_tokens
    from specc.tools.runtime.tokens import Tokens

    tokens = Tokens(graph.folder) if options.prompt else None
    rows = [parse_ids(ids) for ids in options.ids] if options.ids else [tokens.encode(text).ids for text in options.prompt]
    printer = Printer(options.format, rows, options.prompt, tokens)
    new, chunk = (NEW if options.max_new_tokens is None else options.max_new_tokens), (CHUNK if options.chunk is None else options.chunk)
    found = generate(graph, rows, new, _sampling(options), end_tokens(graph.folder), chunk, printer.token)
    printer.finish(found)
    if any(row.stop == "context" for row in found):
        print(f"stopped at the model's context of {graph.context} tokens", file=sys.stderr)
    return 0


def _sampling(options: argparse.Namespace):
    from specc.tools.runtime.sampling import Sampling

    temperature = options.temperature
    if temperature is None:  # who asks for top-k or top-p wants to draw
        temperature = 0.0 if options.top_k is None and options.top_p is None else 1.0
    return Sampling(temperature, options.top_k, options.top_p, options.seed or 0)


def _encode(graph, options: argparse.Namespace) -> int:
    from specc.faces.run_output import print_readings
    from specc.tools.runtime.encode import encode
    from specc.tools.runtime.inputs import parse_ids
    from specc.tools.runtime.tokens import Text, Tokens

    tokens = Tokens(graph.folder) if options.text else None
    if tokens is not None:
        texts = [tokens.encode(text) for text in options.text]
    else:
        rows = [parse_ids(ids) for ids in options.ids]
        texts = [Text(ids, [str(token) for token in ids], [0] * len(ids)) for ids in rows]
    print_readings(graph, texts, options.text or options.ids, encode(graph, texts), tokens, options.format)
    return 0
