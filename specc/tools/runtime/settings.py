"""What the JSON files beside a graph say that the graph does not: end tokens, labels, the mask token."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from specc.diagnostics.finding import fail


def read(folder: Path, name: str) -> dict[str, Any]:
    """The file's object; an empty one where there is no file."""
    path = folder / name
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise fail("SYS001", f"cannot read {path}: {str(error)[:200]}") from None
    return found if isinstance(found, dict) else {}


def end_tokens(folder: Path) -> frozenset[int]:
    """The ids that end a text: generation_config.json's, else config.json's."""
    for name in ("generation_config.json", "config.json"):
        found = read(folder, name).get("eos_token_id")
        ids = found if isinstance(found, list) else [found]
        if ids and all(type(token) is int for token in ids):
            return frozenset(ids)
    return frozenset()


def labels(folder: Path, count: int) -> list[str]:
    """The classes' names; their numbers where config.json has none."""
    named = read(folder, "config.json").get("id2label")
    named = named if isinstance(named, dict) else {}
    return [str(named.get(str(number), number)) for number in range(count)]


def problem_type(folder: Path, classes: int) -> str:
    """`regression`, `multi_label_classification` or `single_label_classification`; one number alone is a regression."""
    kind = read(folder, "config.json").get("problem_type")
    return kind if isinstance(kind, str) else "regression" if classes == 1 else "single_label_classification"


def mask_token(folder: Path) -> str | None:
    """How the tokenizer spells the mask, as far as its config says."""
    found = read(folder, "tokenizer_config.json").get("mask_token")
    found = found.get("content") if isinstance(found, dict) else found
    return found if isinstance(found, str) else None
