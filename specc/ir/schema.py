"""The JSON Schema of the typed model, with every component that any axis has."""

from __future__ import annotations

from typing import Any

from specc.components.registry import AXES, OVER, load, members
from specc.ir.adapter import Adapter
from specc.ir.model import Model


def json_schema(of: str = "model") -> dict[str, Any]:
    """A closed schema of a model, or of an adapter. Components stand in `$defs` as `axis.kind`, an axis as the choice of its members."""
    schema = (Adapter if of == "adapter" else Model).model_json_schema(mode="serialization")
    found: dict[str, Any] = schema.pop("$defs")
    for axis in (*AXES, *OVER) if of == "adapter" else AXES:
        for kind in members(axis):
            component = load(axis, kind).model_json_schema(mode="serialization")
            found |= component.pop("$defs", {})
            found[f"{axis}.{kind}"] = component
        found[axis] = {"anyOf": [{"$ref": f"#/$defs/{axis}.{kind}"} for kind in sorted(members(axis))]}
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "$defs": dict(sorted(found.items()))}
    return _filled(schema)


def _filled(value: Any) -> Any:
    """The same with every slot replaced by the axes whose components it takes."""
    if isinstance(value, list):
        return [_filled(v) for v in value]
    if not isinstance(value, dict):
        return value
    filled = {name: _filled(v) for name, v in value.items() if name != "slot"}
    if "slot" not in value:
        return filled
    choices = [{"type": "null"} if axis == "null" else {"$ref": f"#/$defs/{axis}"} for axis in value["slot"]]
    return filled | (choices[0] if len(choices) == 1 else {"anyOf": choices})
