"""Writes a safetensors file tensor by tensor: whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from specc.weights.own import Entry, layout

Chunks = Iterable[Any]  # bytes, or whatever shows its memory as bytes
Progress = Callable[[str, int, int], None]  # the tensor just written, bytes so far, bytes in all
CHUNK = 1 << 24


def write(out: Path, file_name: str, entries: list[Entry], chunks: Callable[[str], Chunks], progress: Progress | None = None) -> Path:
    """The file, written beside its place and renamed. `out` is its folder, or the file itself if it ends so."""
    target = out if out.suffix == ".safetensors" else out / file_name
    target.parent.mkdir(parents=True, exist_ok=True)
    header, infos = layout(entries, target)
    total, done = sum(info.length for info in infos.values()), 0
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with unfinished.open("xb") as file:
            file.write(header)
            for name, info in infos.items():
                for chunk in chunks(name):
                    file.write(chunk)
                done += info.length
                if file.tell() != len(header) + done:
                    raise OSError(f"{name}: {info.length} bytes were due; a file that was read has changed meanwhile")
                if progress is not None:
                    progress(name, done, total)
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target


def copied(file: Path, offset: int, length: int) -> Iterator[bytes]:
    """A range of a file, piece by piece."""
    with file.open("rb") as source:
        source.seek(offset)
        while length > 0 and (chunk := source.read(min(CHUNK, length))):
            length -= len(chunk)
            yield chunk
