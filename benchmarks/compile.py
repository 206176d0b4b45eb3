"""From a checkpoint to an ONNX graph: wall time and peak memory of whole processes, specc beside its peers.

    python benchmarks/compile.py [--peers PYTHON] [--folder DIR] [--runs N | --quick] [--markdown]

The checkpoint is a 16-layer, 512-wide Llama with random weights (83 million parameters, 332 MB). Every run starts a new
process, with the files in the disk cache. CPU time says the same on a machine that others use, wall time does not. A peer
that PYTHON cannot import, or that fails, is a line of the table.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import median

from contenders import DISTRIBUTIONS, checkpoint, imported, peers, specc, torch_export
from measure import REPOSITORY, SPECC, Contender, Failed, interleaved, number, ratio, table, versions, workplace


def main() -> int:
    options = arguments()
    with workplace(options.folder) as work:
        try:
            source = checkpoint(options.peers, work / "checkpoint")
            spec = imported(source, work / "model.specc")
        except Failed as error:
            print(f"no checkpoint to compile: {error}", file=sys.stderr)
            return 1
        own = [specc(spec, source, work / f"specc-{how}", how) for how in ("link", "copy", "beside")]
        others = [*peers(options.peers, source, work), torch_export(options.peers, source, work)]
        interleaved([*own, *others], options.runs)
        (source / "model.onnx").unlink(missing_ok=True)
        print(table(("", "seconds", "ratio", "CPU s", "ratio", "peak MB"), [row(one, own[0]) for one in [*own, *others]], options.markdown))
        print()
        for line in further(work, options):
            print(f"- {line}" if options.markdown else line)
    print(f"\nmedian of {options.runs}; {versions(options.peers, DISTRIBUTIONS)}")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="the interpreter that has the peers (default: this one)")
    parser.add_argument("--folder", metavar="DIR", help="work here and keep what is made (default: a temporary folder)")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each contender (default: 5)")
    parser.add_argument("--quick", action="store_true", help="one run of each, and no larger checkpoint")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    options.runs = 1 if options.quick else max(1, options.runs)
    return options


def row(contender: Contender, base: Contender) -> list[str]:
    if contender.trouble:
        return [contender.name, contender.trouble, *["-"] * 4]
    cells = [number(median(contender.seconds), 2), number(ratio(contender.seconds, base.seconds), 1)]
    cells += [number(median(contender.work), 2), number(ratio(contender.work, base.work), 1)]
    return [contender.name, *cells, number(median(contender.megabytes), 0)]


def further(work: Path, options: argparse.Namespace) -> list[str]:
    """What shows that specc's cost is that of the graph, not of the weights."""
    lines = []
    if not options.quick:
        lines.append(_larger(work, options))
    shipped = REPOSITORY / "specs" / "models" / "llama3_70b.specc"
    alone = Contender("llama3_70b", [*SPECC, "build", str(shipped), "--to", "onnx", "-o", str(work / "llama3_70b")])
    lines.append(_said("specc, llama3_70b (80 layers) without weights", alone, options.runs))
    return lines


def _larger(work: Path, options: argparse.Namespace) -> str:
    name = "specc, weights link, a checkpoint four times larger"
    try:
        source = checkpoint(options.peers, work / "checkpoint-large", scale=2)
        spec = imported(source, work / "large.specc")
    except Failed as error:
        return f"{name}: {error}"
    return _said(name, specc(spec, source, work / "specc-large", "link"), options.runs)


def _said(name: str, contender: Contender, runs: int) -> str:
    interleaved([contender], runs)
    if contender.trouble:
        return f"{name}: {contender.trouble}"
    return f"{name}: {median(contender.seconds):.2f} s, {median(contender.work):.2f} s of CPU time, {median(contender.megabytes):.0f} MB"


if __name__ == "__main__":
    sys.exit(main())
