"""The axes and their members. A member's module is imported only when something names it."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from typing import Annotated, Any

from pydantic import SerializeAsAny
from pydantic_core import core_schema

from specc.ir.node import Component

AXES = ("input", "position", "scaling", "mask", "norm", "gain", "attention", "temperature", "ffn", "router", "activation", "embed", "head", "objective", "init")
OF_TRAINING = ("objective", "init")  # the axes whose members only training uses
SUBLAYERS = ("norm", "gain", "attention", "ffn")  # the axes whose members a block may call
OVER = ("adapter",)  # the axes whose members lie over a whole model; no model has a field of theirs


@cache
def members(axis: str) -> dict[str, str]:
    """The kinds on an axis, each with `module:Class` of its folder."""
    return import_module(f"specc.components.{axis}").MEMBERS


@cache
def load(axis: str, kind: str) -> type[Component]:
    """The class of one kind. Raises KeyError where the axis has none of that name."""
    module, name = members(axis)[kind].split(":")
    return getattr(import_module(f"specc.components.{axis}.{module}"), name)


def axes_of(kind: str, among: tuple[str, ...] = AXES) -> list[str]:
    """The axes that have a member of this name."""
    return [axis for axis in among if kind in members(axis)]


class Slot:
    """Marks a field that holds a component of one axis (or of `any`): `norm: slot("norm")`. Reads it from JSON by its kind."""

    def __init__(self, axis: str, optional: bool = False) -> None:
        self.axis, self.optional = axis, optional

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(self._read, handler(source))

    @property
    def axes(self) -> tuple[str, ...]:
        return AXES if self.axis == "any" else (self.axis,)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"slot": [*self.axes, *(["null"] if self.optional else [])]}  # specc.ir.schema puts the axes' members here

    def _read(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        axis = next((axis for axis in self.axes if value.get("kind") in members(axis)), None)
        if axis is None:
            raise ValueError(f"no {self.axis} of kind {value.get('kind')!r}")
        return load(axis, value["kind"]).model_validate_json(json.dumps(value))


def slot(axis: str, optional: bool = False) -> Any:
    """The annotation of a field that holds a component of `axis`, or none where `optional`."""
    if optional:
        return Annotated[SerializeAsAny[Component] | None, Slot(axis, optional=True)]
    return Annotated[SerializeAsAny[Component], Slot(axis)]


def axis_of_field(cls: type[Component], name: str) -> str | None:
    """The axis whose components the field holds, None for a plain field."""
    return next((m.axis for m in cls.model_fields[name].metadata if isinstance(m, Slot)), None)
