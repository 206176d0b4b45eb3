"""`specc build SPEC --to torch|onnx -o OUT`: a PyTorch file, or ONNX graphs over weights that stay where they are."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec")
    parser.add_argument("--to", choices=("torch", "onnx"), required=True)
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="the folder to write into")
    parser.add_argument("--model", help="which model of the file")
    parser.add_argument("--weights", metavar="DIR", help="onnx: the checkpoint that the graph refers to")
    parser.add_argument("--weights-as", choices=("beside", "link", "copy"), help="onnx: where the graph finds the weights")
    parser.add_argument("--dtype", choices=("stored", "fp32", "fp16", "bf16"), default="stored", help="onnx: the type the graph computes in; bf16 runs on CUDA only")
    parser.add_argument("--provider", choices=("auto", "cpu", "cuda"), default="auto", help="onnx: where the graph is to run")


def run(options: argparse.Namespace) -> int:
    from specc.faces.loading import one_model

    resolved = one_model(options.spec, options.model)
    return _torch(resolved, options) if options.to == "torch" else _onnx(resolved, options)


def _torch(resolved, options: argparse.Namespace) -> int:
    from specc.backends.torch.emit import emit
    from specc.tools.output import write_whole

    target = Path(options.output) / f"{resolved.model.name}.py"
    write_whole(target, emit(resolved.model))
    print(target)
    return 0


def _onnx(resolved, options: argparse.Namespace) -> int:
    from specc.backends.onnx.write import write
    from specc.faces.loading import origins
    from specc.faces.progress import Progress

    weights, out = Path(options.weights) if options.weights else None, Path(options.output)
    how = (options.weights_as, options.dtype, options.provider)
    done = write(resolved.model, out, weights, *how, origins(resolved), Progress("copying weights"))
    for line in done.remarks:
        print(line, file=sys.stderr)
    print(done.graph)
    return 0
