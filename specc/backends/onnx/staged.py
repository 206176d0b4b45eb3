"""Files made under other names beside their places, and then moved there together: all of them, or none."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

Progress = Callable[[str, int, int], None]  # the file at hand, bytes so far, bytes in all
CHUNK = 1 << 26


class Staged:
    """Used in a `with`; what was not moved by `finish` is gone at its end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._moves: list[tuple[Path, Path]] = []

    def __enter__(self) -> Staged:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *error: object) -> None:
        for temporary, _ in self._moves:
            temporary.unlink(missing_ok=True)

    def put(self, name: str, content: bytes) -> None:
        self._temporary(name).write_bytes(content)

    def make(self, name: str, write: Callable[[Path], None]) -> None:
        """A file that a function writes."""
        write(self._temporary(name))

    def link(self, source: Path, name: str) -> None:
        """A second name for a file."""
        temporary = self._temporary(name)
        try:
            os.link(source, temporary)
        except OSError:
            self._moves.pop()
            raise

    def copy(self, source: Path, name: str, progress: Progress | None = None) -> None:
        """A file of its own; where the file system can, one that shares its blocks until either is written to."""
        temporary = self._temporary(name)
        with source.open("rb", buffering=0) as given, temporary.open("xb", buffering=0) as made:
            total, done = source.stat().st_size, 0
            while done < total:
                moved = _move(given.fileno(), made.fileno(), min(CHUNK, total - done))
                if not moved:
                    raise OSError(errno.EIO, f"{source.name} has become shorter while it was copied")
                done += moved
                if progress is not None:
                    progress(name, done, total)

    def finish(self) -> None:
        for temporary, target in self._moves:
            os.replace(temporary, target)

    def _temporary(self, name: str) -> Path:
        target = self.folder / name
        if target.is_dir():  # would fail only when others have been moved
            raise IsADirectoryError(errno.EISDIR, f"{name} is a folder there")
        temporary = self.folder / f".{name}.{os.getpid()}"
        temporary.unlink(missing_ok=True)
        self._moves.append((temporary, target))
        return temporary


def _move(given: int, made: int, size: int) -> int:
    """Copies up to `size` bytes from where both files stand; how many."""
    if hasattr(os, "copy_file_range"):
        try:
            return os.copy_file_range(given, made, size)
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EBADF, errno.EPERM):
                raise
    chunk = os.read(given, min(size, 1 << 22))
    rest = memoryview(chunk)
    while rest:
        rest = rest[os.write(made, rest) :]
    return len(chunk)
