"""The places of a method as the loops that a reader would write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

LETTERS = ("i", "e")


def loops(keys: Sequence[str], statement: str, depth: int) -> list[str]:
    """Lines that run `statement` (with the key's literal for `{}`) for each key; `depth` layers are `range(LAYERS)`."""
    numbers: dict[str, list[tuple[int, ...]]] = {}
    for key in keys:
        found = tuple(int(n) for n in re.findall(r"(?<=\.)\d+(?=\.)", key))
        numbers.setdefault(re.sub(r"(?<=\.)\d+(?=\.)", "{}", key), []).append(found)
    alike: dict[tuple, list[str]] = {}
    for template, found in numbers.items():
        alike.setdefault(tuple(sorted(found)), []).append(template)
    lines = []
    for found, templates in alike.items():
        lines += _group(found, templates, statement, depth)
    return lines


def _group(found: tuple[tuple[int, ...], ...], templates: list[str], statement: str, depth: int) -> list[str]:
    """The loops over one set of numbers."""
    axes = [sorted({numbers[n] for numbers in found}) for n in range(len(found[0]))]
    indent, lines = "", []
    if axes and tuple(product(*axes)) == found:
        for letter, axis in zip(LETTERS, axes, strict=False):
            lines.append(f"{indent}for {letter} in {_range(axis, depth if letter == 'i' else 0)}:")
            indent += "    "
    elif axes:
        lines.append(f"for {', '.join(LETTERS[: len(axes)])} in {found}:")
        indent = "    "
    named = [template.format(*(f"{{{letter}}}" for letter in LETTERS)) for template in templates]
    stem = named[0][: named[0].rfind("}") + 2] if axes else ""
    if len(named) > 1 and all(name.startswith(stem) for name in named):
        rest = ", ".join(f'"{name[len(stem) :]}"' for name in named)
        lines.append(f"{indent}for name in ({rest}):")
        inner = f'f"{stem}{{name}}"' if stem else "name"
        return [*lines, f"{indent}    {statement.format(inner)}"]
    return lines + [indent + statement.format(f'f"{name}"' if axes else f'"{name}"') for name in named]


def _range(axis: list[int], depth: int) -> str:
    if depth and axis == list(range(depth)):
        return "range(LAYERS)"
    if axis == list(range(axis[0], axis[-1] + 1)) and len(axis) > 1:
        return f"range({axis[0]}, {axis[-1] + 1})" if axis[0] else f"range({axis[-1] + 1})"
    return f"({', '.join(map(str, axis))}{',' * (len(axis) == 1)})"
