"""`specc build SPEC --to torch|onnx -o OUT`: a PyTorch file, or ONNX graphs over weights that stay where they are."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

OF_ONNX = {"weights": None, "weights_as": None, "dtype": "stored", "provider": "auto", "adapter_weights": None, "merge": False}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec")
    parser.add_argument("--to", choices=("torch", "onnx"), required=True)
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="the folder to write into")
    parser.add_argument("--model", help="which model or adapter of the file")
    parser.add_argument("--adapter-weights", metavar="DIR", help="onnx: the folder of the adapter's weights")
    parser.add_argument("--merge", action="store_true", help="onnx: put the adapter's weights into the model's own")
    parser.add_argument("--weights", metavar="DIR", help="onnx: the checkpoint that the graph refers to")
    parser.add_argument("--weights-as", choices=("beside", "link", "copy"), help="onnx: where the graph finds the weights")
    parser.add_argument("--dtype", choices=("stored", "fp32", "fp16", "bf16"), default="stored", help="onnx: the type the graph computes in; bf16 runs on CUDA only")
    parser.add_argument("--outputs", action="append", default=[], metavar="WHAT", help="more outputs: attentions:last, attentions:all, attentions:3")
    parser.add_argument("--provider", choices=("auto", "cpu", "cuda"), default="auto", help="onnx: where the graph is to run")


def run(options: argparse.Namespace) -> int:
    from specc.faces.loading import one_subject

    found = one_subject(options.spec, options.model)
    return _torch(found, options) if options.to == "torch" else _onnx(found, options)


def _torch(found, options: argparse.Namespace) -> int:
    from specc.backends.torch.emit import emit
    from specc.faces.idle_options import refuse_idle
    from specc.resolve.adapter import ResolvedAdapter
    from specc.tools.output import write_whole
    from specc.tools.shown import shown_layers

    refuse_idle(options, OF_ONNX, "only an ONNX graph has a use for it", "in the PyTorch file Model.from_checkpoint(DIR) reads weights")
    texts = {}
    if isinstance(found, ResolvedAdapter):
        from specc.backends.torch.adapter.emit import emit_adapter

        texts[found.adapter.name], found = emit_adapter(found.adapter), found.base
    texts = {found.model.name: emit(found.model, shown_layers(options.outputs, found.model))} | texts
    for name, text in texts.items():
        target = Path(options.output) / f"{name}.py"
        write_whole(target, text)
        print(target)
    return 0


def _onnx(found, options: argparse.Namespace) -> int:
    from specc.backends.onnx.write import write
    from specc.faces.loading import origins
    from specc.faces.progress import Progress
    from specc.tools.shown import check_provider, shown_layers

    found, over = _laid(found, options)
    weights, out = Path(options.weights) if options.weights else None, Path(options.output)
    how = (options.weights_as, options.dtype, options.provider)
    shown = shown_layers(options.outputs, found.model)
    check_provider(shown, options.provider, options.dtype)
    done = write(found.model, out, weights, *how, origins(found), Progress("copying weights"), over, shown)
    for line in done.remarks:
        print(line, file=sys.stderr)
    print("\n".join(map(str, done.graphs)))
    return 0


def _laid(found, options: argparse.Namespace):
    """The model to build, and the adapter over it, if there is one."""
    from specc.backends.onnx.write import Laid
    from specc.diagnostics.finding import fail
    from specc.resolve.adapter import ResolvedAdapter
    from specc.weights.adapter.held import open_adapter

    if not isinstance(found, ResolvedAdapter):
        if options.merge or options.adapter_weights:
            raise fail("SYS006", f"`{found.model.name}` is a model: --adapter-weights and --merge belong to an adapter")
        return found, None
    tensors = open_adapter(Path(options.adapter_weights), found.adapter) if options.adapter_weights else None
    return found.base, Laid(found.adapter, tensors, options.merge)
