"""The command line: one module per command, imported when the command is named."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from specc import __version__

COMMANDS = {
    "check": "check specs: what is wrong, and whether their `checks` hold",
    "import": "a published model's config (and checkpoint) to a spec",
    "build": "a spec to a PyTorch file or an ONNX graph",
    "ir": "print the typed model as JSON",
    "schema": "print the JSON Schema of the typed model",
    "explain": "what a diagnostic code means, with a wrong and a right example",
    "stats": "parameters, FLOPs, cache and weight bytes",
    "verify": "prove that PyTorch, ONNX Runtime and the published model compute the same",
    "run": "generate text or embeddings with a built model",
    "weights": "make weights, or convert them between layouts",
    "diff": "what a change means for people who hold checkpoints",
    "lock": "write specc.lock: what every spec is, for CI to hold it to",
    "fmt": "write specs in the canonical layout, comments kept",
    "draw": "the architecture as a page or a picture",
    "compare": "models side by side, as a table or a page",
    "lsp": "the language server, for editors",
}
FORMATS = {  # of the commands that only report
    "check": ("text", "json", "sarif", "junit", "github", "gitlab"),
    "diff": ("text", "json", "markdown"),
}
BASIC = ("text", "json", "github")  # github: findings as annotations, everything else as text
OPTIONAL = {"torch": "torch", "onnxruntime": "run", "tokenizers": "run", "safetensors": "torch", "transformers": "test", "pygls": "lsp", "lsprotocol": "lsp"}


def main(arguments: list[str] | None = None) -> int:
    """Exit status: 0 clean, 1 findings, 2 usage or unreadable input, 70 a fault of specc itself."""
    parser = _parser(arguments if arguments is not None else sys.argv[1:])
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 2
    from specc.diagnostics import SpecError

    try:
        return options.run(options)
    except SpecError as error:
        return _report(error, options)
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        return 130
    except ModuleNotFoundError as error:
        return _missing(error, options)
    except Exception as error:  # whatever it is, it is a fault of specc: one line, not a traceback
        if getattr(options, "debug", False):
            raise
        print(f"specc: internal error: {type(error).__name__}: {error} (run again with --debug for the trace)", file=sys.stderr)
        return 70


def _parser(arguments: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="specc", description="Compiles a text that says what a transformer is to PyTorch and to ONNX.")
    parser.add_argument("--version", action="version", version=f"specc {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    named = next((a for a in arguments if not a.startswith("-")), None)
    for name, help in COMMANDS.items():
        command = commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
        command.add_argument("--format", choices=FORMATS.get(name, BASIC), default="text")
        command.add_argument("--debug", action="store_true", help="show the trace of an internal error")
        if name == named:  # the other commands' modules stay unread
            module = import_module(f"specc.faces.commands.{name}_command")
            module.arguments(command)
            command.set_defaults(run=module.run)
    return parser


def _report(error, options: argparse.Namespace) -> int:
    from specc.diagnostics.formats import Group, render

    text = render(options.format, [Group("", error.diagnostics)])
    print(text, file=sys.stderr if options.format == "text" else sys.stdout)
    return 2 if any(d.code.startswith("SYS") for d in error.diagnostics) else 1


def _missing(error: ModuleNotFoundError, options: argparse.Namespace) -> int:
    extra = OPTIONAL.get((error.name or "").partition(".")[0])
    if extra is None:
        if getattr(options, "debug", False):
            raise error
        print(f"specc: internal error: {error}", file=sys.stderr)
        return 70
    print(f"specc: this needs {error.name}: pip install 'specc-compiler[{extra}]'", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
