"""Which layers are alike: the kinds of layer of a stack, and how their order is written."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from specc.backends.torch.numbers import literal

LONGEST_TURN = 64  # a longer one would not read as a turn


def named_kinds(labels: Sequence[str], keys: Sequence[Hashable]) -> list[str]:
    """A name for each distinct key, in order: the label of its layer, with a number where several share it."""
    names: dict[Hashable, str] = {}
    for label, key in zip(labels, keys, strict=True):
        if key in names:
            continue
        name, number = label, 2
        while name in names.values():
            name, number = f"{label}_{number}", number + 1
        names[key] = name
    return [names[key] for key in keys]


def order(kinds: Sequence[int | float | str | None], count: str) -> str:
    """The kinds of all layers (`count` names how many) as an expression: a turn repeated, or runs, or every one of them."""
    for length in range(1, min(len(kinds) // 2, LONGEST_TURN) + 1):
        turn, times = kinds[:length], -(-len(kinds) // length)
        if list(turn) * times == list(kinds):
            return f"{_tuple(turn)} * {times}"
        if times > 2 and (list(turn) * times)[: len(kinds)] == list(kinds):
            return f"({_tuple(turn)} * {times})[:{count}]"
    runs: list[list[int | float | str | None]] = []
    for kind in kinds:
        if runs and runs[-1][0] == kind:
            runs[-1].append(kind)
        else:
            runs.append([kind])
    text = " + ".join(f"{_tuple(run[:1])} * {len(run)}" if len(run) > 1 else _tuple(run) for run in runs)
    return text if 2 * len(runs) < len(kinds) and len(text) < 100 else _tuple(kinds)


def progression(values: Sequence[int | float], count: str) -> str:
    """The values of all layers as an expression: a formula in the layer's number where one gives exactly these numbers."""
    first, step = values[0], values[1] - values[0]
    if isinstance(first, float) and all(value == first / (i + 1) for i, value in enumerate(values)):
        return f"tuple({literal(first)} / (i + 1) for i in range({count}))"
    if all(value == first + i * step for i, value in enumerate(values)):
        return f"tuple({literal(first)} + i * {literal(step)} for i in range({count}))"
    return _tuple(values)


def _tuple(values: Sequence[int | float | str | None]) -> str:
    return f"({literal(values[0])},)" if len(values) == 1 else f"({', '.join(map(literal, values))})"
