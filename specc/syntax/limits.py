"""The bounds on what is read (docs: limits), each with its own code. They hold whatever the text says."""

from __future__ import annotations

import re

from specc.diagnostics.finding import fail
from specc.source import Source, Span

TEXT = 1 << 20  # bytes of UTF-8
TOKENS = 200_000
BRACKETS = 100  # open brackets and braces at once
LEVELS = 100  # expressions inside one another
CHAIN = 200  # operations in a row, so that no walk of the tree comes near Python's own recursion limit
INTEGER = 2**63 - 1
SPELLING = 64  # characters of one number
ERRORS = 20  # reported for one file

_UNREADABLE = re.compile("[\0\ud800-\udfff]")


def decode(name: str, data: bytes) -> Source:
    """The source of a file's bytes; bytes that are not UTF-8 are reported by the first one's place."""
    if len(data) > TEXT:
        raise _too_large(Source(name, ""))
    return Source(name, data.decode("utf-8", errors="surrogateescape"))


def check_text(source: Source) -> None:
    """Raises where the text is too large, or is no text."""
    text = source.text
    if len(text) > TEXT or len(text.encode("utf-8", errors="surrogatepass")) > TEXT:
        raise _too_large(source)
    if found := _UNREADABLE.search(text):
        what = "a NUL character" if found[0] == "\0" else "bytes that are not UTF-8"
        span = Span(source, found.start(), found.end())
        raise fail("LIM007", f"the file holds {what}", span, "a spec is a text file in UTF-8")


def _too_large(source: Source) -> Exception:
    return fail("LIM001", "the file is larger than 1 MiB", Span(source, 0, 0), "split it and join the parts with `use`")
