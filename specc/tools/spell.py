"""Values of the typed model in the words of the language: `rope(theta: 10_000)`, `[q, k]`, `x = x + attention(h)`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from specc.ir.node import Component, Picture
from specc.ir.wiring import Add, Block, Call, Concat, Insert, Ref, Scale, Wire
from specc.syntax.layout import number

LONGEST = 8  # items of a list that are shown
LONG = re.compile(r"\d+\.\d{6,}")


def spell(value: Any, full: bool = False) -> str:
    """A field's value. Of a component the fields that stand at their default are left out; `full`: only those that are none or off."""
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case int() | float():
            whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
            return number(int(value) if whole else value)
        case tuple() | list():
            shown = [spell(item) for item in value[:LONGEST]]
            return f"[{', '.join(shown)}{f', ... {len(value)} in all' if len(value) > LONGEST else ''}]"
        case Picture():
            return f"image({', '.join(f'{name}: {spell(inner)}' for name, inner in value)})"
        case Component():
            given = [f"{name}: {spell(inner, full)}" for name, inner in value if name != "kind" and _said(value, name, inner, full)]
            return f"{value.kind}({', '.join(given)})" if given else value.kind
    return str(value)


def _said(component: Component, name: str, value: Any, full: bool) -> bool:
    field = type(component).model_fields[name]
    return field.is_required() or value != field.default or (full and bool(value))


def brief(value: Any) -> str:
    """The same for a page: long fractions cut short."""
    return LONG.sub(lambda found: f"{float(found[0]):.6g}", spell(value))


def spell_both(old: Any, new: Any) -> tuple[str, str]:
    """Two values that differ; of long lists the first items that do."""
    if isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new) > LONGEST:
        at = next((n for n, (a, b) in enumerate(zip(old, new, strict=True)) if a != b), 0)
        return f"[{at}]: {spell(old[at])}", f"[{at}]: {spell(new[at])}"
    return spell(old), spell(new)


def formula(wire: Wire) -> str:
    """Dataflow as it would be written in a block."""
    match wire:
        case Ref(name=name):
            return name
        case Call(instance=instance, inputs=inputs):
            return f"{instance.removeprefix('embed.')}({', '.join(map(formula, inputs))})"
        case Add(terms=terms):
            return " + ".join(map(formula, terms))
        case Scale(factor=factor, of=of):
            inner = formula(of)
            return f"{spell(factor)} * {f'({inner})' if isinstance(of, Add) else inner}"
        case Concat(parts=parts):
            return f"concat({', '.join(map(formula, parts))})"
        case Insert(what=what, at=at, into=into):
            return f"insert({formula(what)}, at: {at}, into: {formula(into)})"
    raise AssertionError(wire)


def statements(block: Block) -> list[str]:
    return [f"{assign.name} = {formula(assign.value)}" for assign in block.body]


def ranges(numbers: Iterable[int]) -> str:
    """0-3,7 for 0, 1, 2, 3, 7; 0,2,...,40 for numbers that are equally far apart."""
    found: list[list[int]] = []
    numbers = sorted(numbers)
    if len(numbers) > 3 and numbers[1] - numbers[0] > 1 and len({b - a for a, b in pairwise(numbers)}) == 1:
        return f"{numbers[0]},{numbers[1]},...,{numbers[-1]}"
    for n in numbers:
        if found and found[-1][1] == n - 1:
            found[-1][1] = n
        else:
            found.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


def size(count: float) -> str:
    """Bytes in the largest binary unit that leaves at least one of it."""
    for unit, power in (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << power:
            return f"{count / (1 << power):,.4g} {unit}"
    return f"{count:g} B"


def shape(extents: Iterable[int | str]) -> str:
    return f"[{', '.join(map(str, extents))}]"
