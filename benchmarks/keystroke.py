"""How long the language server takes to answer a keystroke in a file of 300 lines: findings, and completion.

    python benchmarks/keystroke.py [--keys N | --quick] [--lines N] [--markdown]

A client of the protocol types into the file, one character at a time at the end of a line in its middle, so that every other
text is broken, and waits for the findings of that very text; then it asks what could be typed there.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from itertools import cycle
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from lsprotocol import types
from measure import REPOSITORY, number, table, versions
from pygls.lsp.client import LanguageClient

TYPED = "  position = rope(theta: 50_000, layout: interleaved)"


def text_of(lines: int) -> str:
    """Published models, one after the other, until there are so many lines; those that use other files left out."""
    found: list[str] = []
    for path in sorted((REPOSITORY / "specs" / "models").glob("*.specc")):
        text = path.read_text(encoding="utf-8").removeprefix("specc 1\n")
        if "\nuse " not in f"\n{text}" and len(found) < lines:
            found += text.splitlines()
    return "\n".join(found) + "\n"


def worked(process: int) -> float:
    """Seconds of processor time that a process has taken; what other programs do to the clock does not count."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measured(text: str, keys: int) -> tuple[dict[str, list[float]], float]:
    """-> seconds of each answer, and of processor time for a keystroke with both answers."""
    client, news, seen = LanguageClient("keystrokes", "1"), asyncio.Condition(), {"version": -1}

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    async def published(params: types.PublishDiagnosticsParams) -> None:
        async with news:
            seen["version"] = params.version if params.version is not None else -1
            news.notify_all()

    async def findings(version: int) -> None:
        async with news:
            await news.wait_for(lambda: seen["version"] == version)

    await client.start_io(sys.executable, "-m", "specc", "lsp")
    with TemporaryDirectory() as folder:
        uri = (Path(folder) / "long.specc").as_uri()
        await client.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities(), root_uri=Path(folder).as_uri()))
        client.initialized(types.InitializedParams())
        client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "specc", 0, text)))
        await findings(0)
        lines = text.split("\n")
        place = next(n for n in range(len(lines) // 2, len(lines)) if lines[n].startswith("model")) + 1
        times: dict[str, list[float]] = {"findings": [], "completion": []}
        before = worked(client._server.pid)
        for version, count in zip(range(1, keys + 1), cycle(range(1, len(TYPED) + 1)), strict=False):
            line = TYPED[:count]
            now = "\n".join([*lines[:place], line, *lines[place:]])
            document = types.VersionedTextDocumentIdentifier(version, uri)
            begun = time.perf_counter()
            client.text_document_did_change(
                types.DidChangeTextDocumentParams(document, [types.TextDocumentContentChangeWholeDocument(now)])
            )
            await findings(version)
            times["findings"].append(time.perf_counter() - begun)
            begun = time.perf_counter()
            at = types.CompletionParams(types.TextDocumentIdentifier(uri), types.Position(place, len(line)))
            await client.text_document_completion_async(at)
            times["completion"].append(time.perf_counter() - begun)
        each = (worked(client._server.pid) - before) / keys
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return times, each


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=300, help="keystrokes (default: 300)")
    parser.add_argument("--lines", type=int, default=300, help="of the file (default: 300)")
    parser.add_argument("--quick", action="store_true", help="sixty keystrokes")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    text = text_of(options.lines)
    times, each = asyncio.run(measured(text, 60 if options.quick else max(20, options.keys)))
    rows = [
        [name, *(number(1000 * value, 1) for value in (median(took), quantiles(took, n=20)[-1], max(took)))] for name, took in times.items()
    ]
    print(table(("", "median ms", "19 of 20 within", "longest"), rows, options.markdown))
    print(f"\n{1000 * each:.1f} ms of processor time for a keystroke with both answers; ", end="")
    print(f"{len(text.splitlines())} lines, {text.count('model ')} models; {versions(sys.executable, ('pygls', 'pydantic'))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
