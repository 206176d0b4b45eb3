"""Models to draw: published ones, and every family by its sample config."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from specc.diagnostics.finding import Report
from specc.faces.loading import one_model
from specc.ir.model import Model
from specc.resolve.evaluate import evaluate
from specc.resolve.fields import collect
from specc.resolve.model import resolve
from specc.resolve.program import load, load_source
from specc.resolve.scope import Scope
from specc.resources import SPECS
from specc.source import Source


@cache
def published(name: str) -> Model:
    return one_model(str(SPECS / "models" / f"{name}.specc")).model


@cache
def families() -> dict[str, Model]:
    return dict(_families())


def _families() -> Iterator[tuple[str, Model]]:
    for path in sorted((SPECS / "families").glob("*.specc")):
        program = load(path)
        for name in program.own:
            model = program.models[name]
            if model.parameters:
                body = collect(model, program, Report())
                sample = evaluate(body.fields["sample"].value, Scope(body.fields, Report(), evaluate))
                yield name, resolve(model, program, Report(), sample).model


def written(text: str) -> Model:
    program = load_source(Source("example.specc", text), Path("example.specc"))
    return resolve(program.models[program.own[-1]], program, Report()).model
