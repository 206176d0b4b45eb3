"""Reading a config.json: untrusted, so bounded, and nothing in it is executed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from specc.diagnostics.finding import fail

MOST_BYTES = 10 << 20
MOST_LEVELS = 64


def read_config(path: Path) -> tuple[Path, dict[str, Any]]:
    """The config that a folder or a file holds -> its path and its fields. Raises SpecError saying what is wrong with it."""
    file = path / "config.json" if path.is_dir() else path
    try:
        with file.open("rb") as handle:
            content = handle.read(MOST_BYTES + 1)
    except OSError as error:
        raise fail("SYS001", f"cannot read {file}: {error.strerror or error}") from None
    if len(content) > MOST_BYTES:
        raise fail("CFG002", f"{file} holds more than 10 MiB, which no config does")
    try:
        config = json.loads(content, parse_constant=_refuse, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise fail("CFG002", f"{file} is not valid JSON: {error if isinstance(error, ValueError) else 'nested too deeply'}") from None
    if not isinstance(config, dict):
        raise fail("CFG002", f"{file} holds no JSON object, and a config is one")
    if _deeper(config, MOST_LEVELS):
        raise fail("CFG002", f"{file} nests more than {MOST_LEVELS} deep, which no config does")
    return file, config


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"`{next(n for n in names if names.count(n) > 1)}` is given twice")
    return found


def _deeper(value: Any, levels: int) -> bool:
    """Whether objects and lists stand inside one another more than so many levels deep."""
    row = [value]
    while row and levels >= 0:
        row = [inner for v in row if isinstance(v, (dict, list)) for inner in (v.values() if isinstance(v, dict) else v)]
        levels -= 1
    return bool(row)


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not a JSON number")


def model_type(config: dict[str, Any], file: Path) -> str:
    """The family's name. Raises SpecError where the config does not say."""
    name = config.get("model_type")
    if not isinstance(name, str) or not name:
        hint = 'add `"model_type": "..."`; the families that specc knows are in specs/families'
        raise fail("CFG003", f"{file} names no model_type, so there is no telling what it describes", None, hint)
    return name
