"""Each field of the model given another value, one at a time: the same weights must then give other numbers, alike in both back ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from specc.diagnostics.finding import SpecError
from specc.ir.model import Model
from specc.ir.node import Component
from specc.tools.tolerance import TOLERANCE, VISIBLE, distance
from specc.tools.verify.candidates import FACTORS, fields, others, value_at
from specc.tools.verify.inputs import Inputs
from specc.tools.verify.places import Place, factors, places
from specc.tools.verify.validity import problems

if TYPE_CHECKING:
    from numpy import ndarray

Numbers = dict[str, "ndarray"]
Verdict = Literal["moves", "still", "differs", "fails", "shapes", "not perturbable"]


@dataclass(frozen=True, slots=True)
class Field:
    """What came of one field. `moved` is how far PyTorch's numbers went, `error` how far ONNX Runtime's are from them then."""

    name: str
    verdict: Verdict
    change: str = ""
    moved: float = 0.0
    error: float = 0.0

    @property
    def ok(self) -> bool:
        return self.verdict in ("moves", "shapes", "not perturbable")


@dataclass(frozen=True, slots=True)
class Perturbing:
    """A model with its numbers for some inputs, and how each back end computes a model like it on the same weights."""

    model: Model
    numbers: tuple[Numbers, ...]
    given: tuple[Inputs, ...]
    by_torch: Callable[[Model], tuple[Numbers, ...]]
    by_onnx: Callable[[Model], tuple[Numbers, ...]]

    def fields(self) -> Iterator[Field]:
        """Every architecture field of every component, and every constant of the wiring."""
        for place in places(self.model):
            inert = place.component.inert(place.beside)
            for path in fields(place.component):
                name = ".".join([place.name, *path])
                if any(".".join(path[:n]) in inert for n in range(1, len(path) + 1)):
                    yield Field(name, "not perturbable", "means nothing at this place")
                elif path == ("kind",) or value_at(place.component, path) is not None:  # what is not set is no field of this spec
                    yield self._tried(name, list(_changes(place, path)))
        for name, value, put in factors(self.model):
            yield self._tried(name, [(f"{value:g} -> {f * value:g}", lambda v=f * value, put=put: put(v)) for f in FACTORS])

    def _tried(self, name: str, changes: list[tuple[str, Callable[[], Model]]]) -> Field:
        """The first change that is seen; else why none was."""
        reasons, shapes, still = [], "", None
        for change, make in changes:
            changed = make()
            if reason := next(problems(changed), None):
                reasons.append(f"{change}: {reason}")
            elif _shapes(changed) != _shapes(self.model):
                shapes = shapes or change
            else:
                found = self._compared(name, change, changed)
                if found.verdict != "still":
                    return found
                if more := changed.inputs().keys() - self.model.inputs().keys():
                    reasons.append(f"{change}: it reads `{min(more)}`, which is not given here")
                    continue
                still = max(still or found, found, key=lambda f: f.moved)
        if still is not None:
            return still
        if shapes:
            return Field(name, "shapes", shapes)
        return Field(name, "not perturbable", reasons[0] if reasons else "no other value is possible by itself")

    def _compared(self, name: str, change: str, changed: Model) -> Field:
        try:
            got = self.by_torch(changed)
        except SpecError as error:
            return Field(name, "not perturbable", f"{change}: {error.diagnostics[0].message}")
        except Exception as error:  # whatever a back end does wrong must be told with the field that it goes wrong on
            return Field(name, "fails", f"{change}: PyTorch: {type(error).__name__}: {error}")
        moved = self._apart(got, self.numbers, 0.0)
        if moved <= VISIBLE * TOLERANCE["float32"]:
            return Field(name, "still", change, moved)
        try:
            error = self._apart(self.by_onnx(changed), got, 1.0)
        except Exception as problem:
            return Field(name, "fails", f"{change}: ONNX Runtime: {type(problem).__name__}: {problem}", moved)
        return Field(name, "moves" if error <= TOLERANCE["float32"] else "differs", change, moved, error)

    def _apart(self, got: tuple[Numbers, ...], want: tuple[Numbers, ...], least: float) -> float:
        return max(apart(mine, theirs, inputs, least) for mine, theirs, inputs in zip(got, want, self.given, strict=True))


def apart(got: Numbers, want: Numbers, inputs: Inputs, least: float = 0.0) -> float:
    """How far two results lie apart over the real tokens; infinite where they have not the same parts."""
    if got.keys() != want.keys():
        return float("inf")
    return max(distance(inputs.real(name, got[name]), inputs.real(name, want[name]), least) for name in want)


def _changes(place: Place, path: tuple[str, ...]) -> Iterator[tuple[str, Callable[[], Model]]]:
    for number, other in enumerate(others(place.component, path)):
        change = f"{_short(value_at(place.component, path))} -> {_short(value_at(other, path))}"
        yield change, lambda number=number: place.put(lambda component: others(component, path)[number])


def _short(value: object) -> str:
    if isinstance(value, Component):
        return value.kind
    if isinstance(value, tuple):
        return f"[{', '.join(map(_short, value[:4]))}{', ...' if len(value) > 4 else ''}]"
    return (
        "none"
        if value is None
        else f"{value:g}"
        if isinstance(value, float)
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
    )


def _shapes(model: Model) -> dict[str, tuple[int, ...]]:
    return {key: parameter.shape for key, parameter in model.parameters().items()}
