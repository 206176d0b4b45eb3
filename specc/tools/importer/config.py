"""Reading a config.json: untrusted, so bounded, and nothing in it is executed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from specc.diagnostics.finding import fail

MOST_BYTES = 10 << 20


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
        config = json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise fail("CFG002", f"{file} is not valid JSON: {error if isinstance(error, ValueError) else 'nested too deeply'}") from None
    if not isinstance(config, dict):
        raise fail("CFG002", f"{file} holds no JSON object, and a config is one")
    return file, config


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not a JSON number")


def model_type(config: dict[str, Any], file: Path) -> str:
    """The family's name. Raises SpecError where the config does not say."""
    name = config.get("model_type")
    if not isinstance(name, str) or not name:
        hint = "add `\"model_type\": \"...\"`; the families that specc knows are in specs/families"
        raise fail("CFG003", f"{file} names no model_type, so there is no telling what it describes", None, hint)
    return name
