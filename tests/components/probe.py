"""What a component's test file holds beside its formula: specs that make every field visible.

`PROBES[field]` is one probe or several: two specs that differ in that field alone, and the draw of weights under which the
difference shows. `CASES` are specs without such a pair, for kinds without fields. A file for a new kind is all that the
generated tests need.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from specc.components.registry import load, members
from specc.ir.node import Component

BASE = {
    "vocab": 24,
    "dim": 16,
    "depth": 2,
    "context": 16,
    "position": "rope(theta: 100)",
    "mask": "causal",
    "norm": "rms(eps: 1e-5)",
    "attention": "attention(heads: 4, kv_heads: 2, head_dim: 6)",
    "ffn": "mlp(hidden: 20, activation: relu)",
    "block": "pre_norm",
    "head": "hidden",
}


def spec(extra: str = "", **fields: object) -> str:
    """The base model with some fields set otherwise (None drops one), and further statements."""
    chosen = {name: value for name, value in (BASE | fields).items() if value is not None}
    return "\n".join(["model probe {", *(f"  {name} = {value}" for name, value in chosen.items()), f"  {extra}", "}"])


def picture(extra: str = "", **fields: object) -> str:
    """The base model over images of 4 times 6 patches, with some fields set otherwise."""
    looks = {
        "vocab": None,
        "context": None,
        "position": "none",
        "mask": "bidirectional",
        "input": "image(size: [8, 12], channels: 3, patch: 2)",
    }
    return spec(extra, **(looks | {"embed": "concat(class_token(), patches(bias: true)) + learned_position()"} | fields))


@dataclass(frozen=True)
class Draw:
    """How the drawn weights are changed: keys (shell patterns) with a factor, then keys with a number that is added."""

    scale: Mapping[str, float] = field(default_factory=dict)
    shift: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Probe:
    """Two specs that differ in one field. `follows` names other fields of the IR that cannot but change with it."""

    before: str
    after: str
    draw: Draw = Draw()
    follows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A spec, and others whose numbers must differ from its own because another kind stands in its place."""

    text: str
    instead: tuple[str, ...]
    draw: Draw = Draw()


@dataclass(frozen=True)
class Refused:
    """A value of a field that is refused with a diagnostic code, by the front end or a back end (`torch`, `onnx`)."""

    text: str
    code: str
    by: tuple[str, ...] = ("front",)


def plain_kinds(axis: str) -> list[str]:
    """The kinds of an axis that can be written by their name alone."""
    return [
        kind
        for kind in members(axis)
        if not any(f.is_required() for name, f in load(axis, kind).model_fields.items() if name != "kind")
        and load(axis, kind).parameters is Component.parameters  # one that has parameters does not stand everywhere
    ]
