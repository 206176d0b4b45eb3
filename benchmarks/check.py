"""How long `specc check` takes from a cold start, beside a Python that does nothing.

    python benchmarks/check.py [--runs N | --quick] [--markdown]
"""

from __future__ import annotations

import argparse
import sys
from statistics import median

from measure import REPOSITORY, SPECC, Contender, interleaved, number, ratio, table, versions


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=15, help="counted runs of each command (default: 15)")
    parser.add_argument("--quick", action="store_true", help="three runs of each")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    runs = 3 if options.quick else max(1, options.runs)

    specs = REPOSITORY / "specs"
    count = sum(1 for _ in specs.rglob("*.specc"))
    nothing = Contender("python -c pass", [sys.executable, "-c", "pass"])
    commands = [
        nothing,
        Contender("specc --version", [*SPECC, "--version"]),
        Contender("specc check, one file", [*SPECC, "check", str(specs / "models" / "llama3_8b.specc")]),
        Contender(f"specc check specs/ ({count} files)", [*SPECC, "check", str(specs)]),
    ]
    interleaved(commands, runs)
    rows = []
    for one in commands:
        if one.trouble:
            rows.append([one.name, one.trouble, *["-"] * 4])
            continue
        cells = [number(median(one.seconds) * 1000, 0), number(ratio(one.seconds, nothing.seconds), 1)]
        cells += [number(median(one.work) * 1000, 0), number(ratio(one.work, nothing.work), 1)]
        rows.append([one.name, *cells, number(median(one.megabytes), 0)])
    print(table(("", "ms", "ratio", "CPU ms", "ratio", "peak MB"), rows, options.markdown))
    print(f"\nmedian of {runs}; {versions(sys.executable, ('pydantic', 'lark'))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
