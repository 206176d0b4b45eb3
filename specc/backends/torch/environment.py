"""The one place that knows jinja: templates/torch, read once."""

from __future__ import annotations

import textwrap
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from specc.resources import TEMPLATES


@cache
def environment() -> Environment:
    """The templates under settings that leave the printed Python's own line breaks and indents alone.

    `filled` gives the lines of a long row of numbers.
    """
    made = Environment(
        loader=FileSystemLoader(TEMPLATES / "torch"),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["filled"] = lambda values: textwrap.wrap(", ".join(map(repr, values)) + ",", 104)
    return made


@cache
def component(axis: str, kind: str) -> Any:
    """The macros of one component: `component("norm", "rms").construct(...)`."""
    return environment().get_template(f"{axis}/{kind}.py.jinja").module


def render(template: str, /, **context: Any) -> str:
    """A part of the frame: what every model has, whatever its components."""
    return environment().get_template(f"{template}.py.jinja").render(**context)
