"""A progress bar on stderr for work that takes longer than two seconds, where stderr is a terminal."""

from __future__ import annotations

import sys
import time

AFTER = 2.0
WIDTH = 30


class Progress:
    """Called with the name at hand, the bytes done and the bytes in all."""

    def __init__(self, label: str) -> None:
        self.label = label
        self._began = time.monotonic()
        self._drawn = False

    def __call__(self, name: str, done: int, total: int) -> None:
        if not sys.stderr.isatty() or (not self._drawn and time.monotonic() - self._began < AFTER):
            return
        share = done / total if total else 1.0
        bar = "#" * round(WIDTH * share)
        print(f"\r{self.label} [{bar:{WIDTH}}] {share:4.0%} of {total / 1e9:.1f} GB", end="", file=sys.stderr, flush=True)
        self._drawn = True
        if done >= total:
            print(file=sys.stderr)
            self._drawn = False
