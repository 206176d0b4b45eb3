"""What the language's own names mean, in the words that an editor shows."""

from __future__ import annotations

from importlib import import_module
from inspect import cleandoc
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic_core import PydanticUndefined

from specc.components.registry import AXES, Slot, axis_of_field, members
from specc.ir.node import Component
from specc.tools.spell import spell

FIELDS = {  # of a model, besides the axes
    "vocab": "How many tokens there are.",
    "dim": "The width of the hidden state.",
    "depth": "How many layers there are.",
    "context": "The longest sequence that the model is made for, in tokens.",
    "dropout": "Of training only: it changes no inference number.",
    "embed_dropout": "Of training only: after the embedding; as `dropout` where it is not stated.",
    "final_dropout": "Of training only: after the last layer and its norm.",
    "attention_dropout": "Of training only: it changes no inference number.",
    "cross": "The attention that reads what the encoder wrote.",
    "shared_tokens": "Whether encoder and decoder read one token table.",
    "kv_from": "Of a layer: the earlier layer whose keys and values its attention reads.",
    "final_norm": "The norm after the last layer, or none. The model says it, or its block.",
    "block": "How the sublayers of a layer are wired: the name of a block.",
    "layers": "Which layer stands where: `[3 * dense, 58 * sparse]`, `repeat [local, global]`.",
    "sample": "The config that `specc check` evaluates a family with.",
    "ignore": "Config fields that change nothing.",
    "unread": "Config fields that only another library reads.",
}
SECTIONS = {
    "model": "A model: one variant on each axis, and a block that wires them.",
    "layer": "A kind of layer: its fields override the model's.",
    "block": "How sublayers are wired, read top to bottom; its value is the last value of its first input.",
    "encoder": "The fields of the encoder, over the model's.",
    "decoder": "The fields of the decoder, over the model's.",
    "weights": "Which tensor of a published checkpoint is which parameter, in both directions.",
    "checks": "Facts that must hold.",
    "adapter": "What is learned over a model that stays as it is.",
    "use": "Brings in another file's models, blocks and weight maps.",
    "extends": "Takes over everything that another model says, but its checks.",
    "require": "Refuses by name what a family does not express.",
    "repeat": "The list again and again, until the depth is filled.",
}
WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a string"}
BOUNDS = {"gt": "above {}", "ge": "at least {}", "lt": "below {}", "le": "at most {}"}


def axis_doc(axis: str) -> str:
    """What an axis is for: the first sentence of its room."""
    return (import_module(f"specc.components.{axis}").__doc__ or "").strip().partition("\n\n")[0]


def field_doc(path: str) -> str:
    """What a field of a model is for; empty for a name of the user's own."""
    name = path.partition(".")[0]
    return FIELDS.get(name) or (axis_doc(name) if name in AXES else "")


def component_doc(cls: type[Component]) -> str:
    return cleandoc(cls.__doc__ or "")


def fields_of(cls: type[Component]) -> list[str]:
    """The fields that a text can set."""
    return [name for name in cls.model_fields if name != "kind"]


def type_of(cls: type[Component], name: str) -> str:
    """What a field takes, with its bounds."""
    info = cls.model_fields[name]
    axis = axis_of_field(cls, name)
    if axis is not None:
        optional = any(isinstance(m, Slot) and m.optional for m in info.metadata)
        return f"a variant of {axis}" + (", or none" if optional else "")
    bounds = [
        text.format(_short(value)) for m in info.metadata for key, text in BOUNDS.items() if (value := getattr(m, key, None)) is not None
    ]
    return ", ".join([_type(info.annotation), *bounds])


def default_of(cls: type[Component], name: str) -> str:
    """A field's default as a text would say it; empty where it is derived, or must be given."""
    value = cls.model_fields[name].default
    return "" if value is PydanticUndefined else spell(value)


def is_needed(cls: type[Component], name: str) -> bool:
    """Whether a field has no default of its own: it must be given, or follows from others."""
    return cls.model_fields[name].default is PydanticUndefined


def words_of(cls: type[Component], name: str) -> list[str]:
    """The words that a field takes, `true` and `false` where it is one of those."""
    if axis := axis_of_field(cls, name):
        return [*members(axis)]
    return list(dict.fromkeys(_words(cls.model_fields[name].annotation)))


def _type(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return " or ".join(f"`{word}`" for word in get_args(annotation))
    if get_origin(annotation) is tuple:
        return f"a list of {_type(get_args(annotation)[0])}".replace("a list of a number", "a list of numbers")
    if get_origin(annotation) in (Union, UnionType):
        return ", or ".join("none" if part is type(None) else _type(part) for part in get_args(annotation))
    return WORDS.get(annotation, "a value")


def _words(annotation: Any) -> list[str]:
    if annotation is bool:
        return ["true", "false"]
    if annotation is type(None):
        return ["none"]
    if get_origin(annotation) is Literal:
        return [word for word in get_args(annotation) if isinstance(word, str)]
    return [word for part in get_args(annotation) for word in _words(part)]


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
