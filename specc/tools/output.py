"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from specc.diagnostics.finding import fail


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file through a temporary one beside it. Raises SpecError where it cannot be written."""
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise fail("SYS005", f"cannot write {path}: {error.strerror or error}") from None
