"""Every probe and case of every component, flat, as parameters of the generated tests."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import ModuleType

import numpy as np

from specc.ir.model import Model
from tests.components.probe import Case, Draw, Probe, Refused
from tests.harness import architecture_fields, draw, every_kind, inputs_of, model_of
from tests.oracle.run import run


def file_of(axis: str, kind: str) -> ModuleType | None:
    """The kind's test file, None where there is none."""
    name = f"tests.components.{axis}.{kind}"
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None


def _listed(found: object) -> tuple:
    return found if isinstance(found, tuple) else (found,)


def entries(axis: str, kind: str, field: str) -> tuple[Probe | Refused, ...]:
    return _listed(getattr(file_of(axis, kind), "PROBES", {}).get(field, ()))


def probes() -> Iterator[tuple[str, str, str, int, Probe]]:
    for axis, kind in every_kind():
        for field in architecture_fields(axis, kind):
            for number, probe in enumerate(p for p in entries(axis, kind, field) if isinstance(p, Probe)):
                yield axis, kind, field, number, probe


def refusals() -> Iterator[tuple[str, str, str, int, Refused]]:
    for axis, kind in every_kind():
        for field in architecture_fields(axis, kind):
            for number, refused in enumerate(p for p in entries(axis, kind, field) if isinstance(p, Refused)):
                yield axis, kind, field, number, refused


def cases() -> Iterator[tuple[str, str, int, Case]]:
    for axis, kind in every_kind():
        for number, case in enumerate(getattr(file_of(axis, kind), "CASES", ())):
            yield axis, kind, number, case


def variants() -> Iterator[tuple[str, str, Draw]]:
    """Every spec that the back ends are run on, by a name of its own; the same spec with the same draw only once."""
    seen: set[tuple] = set()
    named = [
        (f"{axis}.{kind}.{field}-{number}-{side}", getattr(p, side), p.draw)
        for axis, kind, field, number, p in probes()
        for side in ("before", "after")
    ]
    named += [(f"{axis}.{kind}-{number}", case.text, case.draw) for axis, kind, number, case in cases()]
    for name, text, change in named:
        key = (text, *sorted(change.scale.items()), None, *sorted(change.shift.items()))
        if key not in seen:
            seen.add(key)
            yield name, text, change


_known: dict[tuple, tuple] = {}


def expected(text: str, change: Draw) -> tuple[Model, dict[str, np.ndarray], dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The model, its weights, its inputs and what the oracle makes of them, each computed once."""
    key = (text, *sorted(change.scale.items()), None, *sorted(change.shift.items()))
    if key not in _known:
        model = model_of(text)
        weights, inputs = draw(model, change), inputs_of(model)
        _known[key] = (model, weights, inputs, run(model, weights, inputs))
    return _known[key]


@cache
def leaves(model: Model) -> dict[tuple[str, ...], object]:
    """Every value of the IR by its path; a component's kind with its path, so that another kind is another value."""
    found: dict[tuple[str, ...], object] = {}

    def walk(path: tuple[str, ...], value: object) -> None:
        if isinstance(value, dict) and value:
            for name, inner in value.items():
                walk((*path, str(name)), inner)
        elif isinstance(value, (list, tuple)) and value:
            for number, inner in enumerate(value):
                walk((*path, str(number)), inner)
        else:
            found[path] = value

    walk((), model.model_dump())
    return found
