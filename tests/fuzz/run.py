"""More random specs than a test may draw: `python -m tests.fuzz.run --examples 5000 --seed 1`.

Each failure is printed, smallest first where it was drawn, and the run goes on. `--front` mutates published specs instead.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter

from tests.fuzz.mutated import outcome, texts
from tests.fuzz.test_backends import check

CHUNK = 50  # examples of one seed: hypothesis stops at a failure, the next chunk goes on


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description="More random specs than a test may draw.")
    parser.add_argument("--examples", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--front", action="store_true", help="mutate published specs, and look at the front end alone")
    options = parser.parse_args(arguments)
    failed = front_end(options.seed, options.examples) if options.front else back_ends(options.seed, options.examples)
    return 1 if failed else 0


def back_ends(seed: int, examples: int) -> int:
    """-> how many chunks held a failure"""
    failed, begin = 0, time.perf_counter()
    chunks = -(-examples // CHUNK)
    for number in range(chunks):
        try:
            check(1_000_000 * seed + number, CHUNK)
        except Exception as error:  # whatever it is, it is a finding
            failed += 1
            print(f"--- chunk {number}: {type(error).__name__}: {error}")
            print("".join([*traceback.format_exception(error)[-6:], *getattr(error, "__notes__", [])]), flush=True)
        print(f"{number + 1}/{chunks} chunks, {failed} with a failure, {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    return failed


def front_end(seed: int, examples: int) -> int:
    """-> how many texts failed"""
    found: Counter[str] = Counter()
    for path, text in texts(1_000_000 * seed, examples):
        try:
            found[outcome(path, text)] += 1
        except Exception as error:
            found["failed"] += 1
            print(f"--- {path.stem}: {type(error).__name__}: {error}")
            print("".join(traceback.format_exception(error)[-3:]), text, sep="\n", flush=True)
    print(", ".join(f"{code} {times}" for code, times in found.most_common()))
    return found["failed"]


if __name__ == "__main__":
    sys.exit(main())
