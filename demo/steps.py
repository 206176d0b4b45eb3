"""How the demo shows its steps: a line when one is done, with its time, and a sign of life while a long one runs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

AFTER = 2.0  # seconds
WIDTH = 104


@contextmanager
def step(title: str) -> Iterator[list[str]]:
    """Prints the title and the seconds when it is done, and then the lines that were put into the list."""
    lines: list[str] = []
    done = threading.Event()
    began = time.monotonic()
    ticker = threading.Thread(target=_tick, args=(title, began, done), daemon=True)
    ticker.start()
    try:
        yield lines
    finally:
        done.set()
        ticker.join()
    print(f"{title:{WIDTH - 8}} {time.monotonic() - began:5.1f} s")
    for line in lines:
        print(f"    {line}")
    sys.stdout.flush()


def _tick(title: str, began: float, done: threading.Event) -> None:
    terminal = sys.stderr.isatty()
    if done.wait(AFTER):
        return
    if not terminal:
        print(f"{title} ...", file=sys.stderr, flush=True)
        return
    while not done.wait(0.5):
        print(f"\r{title} ... {time.monotonic() - began:.0f} s", end="", file=sys.stderr, flush=True)
    print("\r\033[K", end="", file=sys.stderr, flush=True)
