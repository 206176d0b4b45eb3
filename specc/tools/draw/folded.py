"""The layers of a stack, folded: equal neighbours counted, and what comes again and again said once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from specc.ir.model import Layer, Stack

LONGEST = 12  # runs of a pattern that is looked for
MOST = 8  # groups that are told


@dataclass(frozen=True, slots=True)
class Run:
    """So many layers of one kind in a row."""

    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that stand `times` times, one after the other."""

    runs: tuple[Run, ...]
    times: int


@dataclass(frozen=True, slots=True)
class Kind:
    """All layers of one label that are wired alike. numbers: which ones they are."""

    label: str
    layer: Layer
    numbers: tuple[int, ...]
    varies: bool  # whether a number of theirs differs from layer to layer


def kinds(stack: Stack) -> list[Kind]:
    """Every kind of layer of a stack, in the order in which they first stand there."""
    found: dict[str, list[int]] = {}
    for number, layer in enumerate(stack.layers):
        found.setdefault(layer.label, []).append(number)
    return [
        Kind(label, stack.layers[numbers[0]], tuple(numbers), any(stack.layers[n] != stack.layers[numbers[0]] for n in numbers))
        for label, numbers in found.items()
    ]


def folded(stack: Stack) -> list[Group]:
    """The layers from the first to the last, each stretch by the pattern that covers most of it."""
    runs = [Run(label, len(list(run))) for label, run in groupby(layer.label for layer in stack.layers)]
    groups: list[Group] = []
    at = 0
    while at < len(runs):
        length, times = max(
            ((n, _times(runs, at, n)) for n in range(1, LONGEST + 1)), key=lambda p: (p[0] * p[1] if p[1] > 1 else 1, -p[0])
        )
        if times < 2:
            length = 1
        pattern = tuple(runs[at : at + length])
        if times < 2 and groups and groups[-1].times == 1:
            groups[-1] = Group(groups[-1].runs + pattern, 1)
        else:
            groups.append(Group(pattern, max(times, 1)))
        at += length * max(times, 1)
    return groups


def told(stack: Stack) -> str:
    """The same in words: `(5 local, 1 global) x 4, 2 local`; the number alone where all layers are of one kind."""
    groups = folded(stack)
    if len(groups) == 1 and len(groups[0].runs) == 1 and groups[0].times == 1:
        return f"{len(stack.layers)} of one kind"
    spelt = []
    for group in groups[:MOST]:
        runs = ", ".join(f"{run.count} {run.label}" for run in group.runs)
        spelt.append(f"({runs}) x {group.times}" if group.times > 1 else runs)
    return ", ".join([*spelt, "..."] if len(groups) > MOST else spelt)


def _times(runs: list[Run], at: int, length: int) -> int:
    """How often the next `length` runs stand one after the other."""
    pattern, times = runs[at : at + length], 1
    if len(pattern) < length:
        return 0
    while runs[at + times * length : at + (times + 1) * length] == pattern:
        times += 1
    return times
