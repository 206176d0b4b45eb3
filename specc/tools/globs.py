"""Patterns of paths as .gitignore has them: `*` within a name, `**` over folders, a bare name at any depth."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path


def matches(glob: str, path: Path, folder: Path) -> bool:
    """Whether a path, or a folder above it, fits a pattern that is written in a file of `folder`."""
    path = path.resolve()
    if not path.is_relative_to(folder):
        return False
    return _pattern(glob).fullmatch(path.relative_to(folder).as_posix()) is not None


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    glob = glob.removeprefix("./").rstrip("/")
    text = "" if "/" in glob.strip("/") or glob.startswith("/") else "(?:.*/)?"
    rest = glob.lstrip("/")
    while rest:
        for sign, meaning in (("**/", "(?:.*/)?"), ("**", ".*"), ("*", "[^/]*"), ("?", "[^/]")):
            if rest.startswith(sign):
                text, rest = text + meaning, rest[len(sign) :]
                break
        else:
            text, rest = text + re.escape(rest[0]), rest[1:]
    return re.compile(f"{text}(?:/.*)?", re.DOTALL)
