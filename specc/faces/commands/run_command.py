"""`specc run DIR`: text that a built model writes, after a prompt or of a source, or what a built encoder says of a text or an image."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from specc.faces.image_options import add_preparation

NEW = 128
EARLY = {"true": True, "false": False, "never": "never"}
GENERATING = ("max_new_tokens", "temperature", "top_k", "top_p", "seed", "chunk")
SEARCHING = ("num_beams", "length_penalty", "early_stopping")
OF_DECODERS = ("start_token", "forced_bos")  # beside an encoder


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="holds the graph, or the two graphs, that `specc build --to onnx` wrote")
    given = parser.add_argument_group("inputs (each may be given several times: a batch)")
    given.add_argument("--prompt", action="append", metavar="TEXT", help="a text that a causal model goes on with")
    given.add_argument("--text", action="append", metavar="TEXT", help="a text for an encoder or a classifier, or the source for an encoder-decoder")
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
    beams = parser.add_argument_group("beam search (where these are not given an encoder-decoder takes what it was published with)")
    beams.add_argument("--num-beams", type=int, metavar="N", help="beams for each row; 1 is none")
    beams.add_argument("--length-penalty", type=float, metavar="P", help="a finished row scores its log-probability / length^P")
    beams.add_argument("--early-stopping", choices=tuple(EARLY), help="whether as many finished beams as there are beams end a row")
    beams.add_argument("--start-token", type=int, metavar="ID", help="what a decoder beside an encoder starts with")
    beams.add_argument("--forced-bos", type=int, metavar="ID", help="the first token after that, such as the target language of mBART")
    parser.add_argument("--adapter", metavar="FILE", help="a .onnx_adapter that the graph was built for")
    parser.add_argument("--provider", choices=("auto", "cpu", "cuda"), default="auto", help="where it runs; auto takes CUDA where it loads")
    parser.add_argument("--fast-start", action="store_true", help="open at once and run a little slower: weights stay mapped, not repacked")


def run(options: argparse.Namespace) -> int:
    from specc.diagnostics.finding import fail
    from specc.tools.runtime.session import open_graph
    from specc.tools.runtime.translate import is_encoder_decoder

    kinds = [name for name in ("prompt", "text", "ids", "image") if getattr(options, name) is not None]
    if len(kinds) != 1:
        problem = f"{' and '.join('--' + kind for kind in kinds)} do not go together" if kinds else "there is no input"
        raise fail("SYS022", problem, None, "give --prompt, --text, --ids or --image, each as often as you like")
    folder = Path(options.folder)
    if is_encoder_decoder(folder):
        if options.adapter is not None:
            raise fail("SYS022", "--adapter is for a model of one graph, and an encoder-decoder has two", None, "merge it: `specc build --merge`")
        return _translate(folder, options)
    if unused := _given(options, OF_DECODERS):
        raise fail("SYS022", f"{unused} is for encoder-decoders")
    graph = open_graph(folder, options.provider, options.fast_start, adapter=options.adapter and Path(options.adapter))
    print(graph.remark, file=sys.stderr)
    if kinds == ["prompt"] or (kinds == ["ids"] and graph.heads == ("lm",)):
        return _generate(graph, options)
    if unused := _given(options, (*GENERATING, *SEARCHING)):
        raise fail("SYS022", f"{unused} is for generating, and nothing is generated from --{kinds[0]} here")
    if kinds == ["image"]:
        from specc.faces.image_output import print_images

        print_images(graph, options)
        return 0
    if given := [f"--{name}" for name in ("size", "mean", "std") if getattr(options, name) is not None]:
        raise fail("SYS022", f"{', '.join(given)} belongs to --image")
    return _encode(graph, options)


def _given(options: argparse.Namespace, names: tuple[str, ...]) -> str:
    return ", ".join(f"--{name.replace('_', '-')}" for name in names if getattr(options, name) is not None)


def _translate(folder: Path, options: argparse.Namespace) -> int:
    from dataclasses import replace

    from specc.diagnostics.finding import fail
    from specc.faces.run_output import Printer
    from specc.tools.runtime.inputs import parse_ids
    from specc.tools.runtime.published import settings
    from specc.tools.runtime.tokens import Tokens
    from specc.tools.runtime.translate import open_both, translate

    if options.chunk is not None:
        raise fail("SYS022", "--chunk cuts prompts, and an encoder reads its source whole")
    graphs = open_both(folder, options.provider, options.fast_start)
    print(graphs[1].remark, file=sys.stderr)
    tokens = None if options.ids else Tokens(folder)
    texts = options.prompt or options.text
    rows = [parse_ids(ids) for ids in options.ids] if options.ids else [tokens.encode(text).ids for text in texts]
    published, sampling = settings(folder, graphs[1].vocab), _sampling(options)
    start = published.start if options.start_token is None else (options.start_token,)
    rules = published.rules if options.forced_bos is None else replace(published.rules, forced_bos=options.forced_bos)
    chosen = replace(published, start=start, rules=rules, beams=_beams(options, published.beams, bool(sampling.temperature)))
    if chosen.draws and not sampling.temperature:
        print("the checkpoint was published to be drawn from; this is the likeliest text (--temperature draws)", file=sys.stderr)
    longest = published.longest if options.max_new_tokens is None else len(start) + options.max_new_tokens
    if longest is None:  # neither asked for nor published
        longest = min(len(start) + NEW, (graphs[1].context or NEW) + 1)
    printer = Printer(options.format, rows, texts, tokens, streams_prompt=False)
    printer.finish(translate(graphs, rows, chosen, longest, sampling, printer.token))
    return 0


def _beams(options: argparse.Namespace, published, draws: bool):
    from specc.tools.runtime.beam import Beams

    count = options.num_beams if options.num_beams is not None else 1 if draws else published.count
    penalty = published.length_penalty if options.length_penalty is None else options.length_penalty
    early = published.early_stopping if options.early_stopping is None else EARLY[options.early_stopping]
    return Beams(count, penalty, early)


def _generate(graph, options: argparse.Namespace) -> int:
    from specc.diagnostics.finding import fail
    from specc.faces.run_output import Printer
    from specc.tools.runtime.beam import Beams
    from specc.tools.runtime.generate import CHUNK, generate, searched
    from specc.tools.runtime.inputs import parse_ids
    from specc.tools.runtime.settings import end_tokens
    from specc.tools.runtime.tokens import Tokens

    tokens = Tokens(graph.folder) if options.prompt else None
    rows = [parse_ids(ids) for ids in options.ids] if options.ids else [tokens.encode(text).ids for text in options.prompt]
    printer = Printer(options.format, rows, options.prompt, tokens)
    new, chunk = (NEW if options.max_new_tokens is None else options.max_new_tokens), (CHUNK if options.chunk is None else options.chunk)
    sampling, ends = _sampling(options), end_tokens(graph.folder)
    beams = _beams(options, Beams(), bool(sampling.temperature))
    if beams.count == 1:
        found = generate(graph, rows, new, sampling, ends, chunk, printer.token)
    elif sampling.temperature:
        raise fail("SYS022", "beams are not drawn: --temperature, --top-k and --top-p go with --num-beams 1")
    else:
        found = searched(graph, rows, new, beams, ends, chunk, printer.token)
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
