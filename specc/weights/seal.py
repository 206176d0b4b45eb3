"""A weight file's identity: its name, size and header. What a graph remembers of the files it points into."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

_SEAL = re.compile(r"(?P<name>[^:]+):(?P<size>\d+):(?P<hash>[0-9a-f]{16})(?: |$)")  # a name may hold spaces


def seal(file: Path) -> str:
    """`name:size:hash of the header`, cheap however large the file is."""
    with file.open("rb") as handle:
        length = int.from_bytes(handle.read(8), "little")
        header = handle.read(min(length, 100 << 20))
    return written(file.name, file.stat().st_size, header)


def written(name: str, size: int, header: bytes) -> str:
    """The seal of a file that may not be there yet; `header` without the eight bytes of its length."""
    return f"{name}:{size}:{sha256(header).hexdigest()[:16]}"


def sealed(text: str) -> dict[str, str]:
    """The seals that a graph keeps, separated by spaces, by file name."""
    return {found["name"]: found[0].rstrip() for found in _SEAL.finditer(text)}
