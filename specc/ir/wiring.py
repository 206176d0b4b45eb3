"""Dataflow over named sublayers: what a block or an embedding formula means."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from specc.ir.node import Node


class Ref(Node):
    """A name bound before: the block's input or an earlier assignment."""

    op: Literal["ref"] = "ref"
    name: str


class Call(Node):
    """An instance (`attention`, `norm.ffn`, `embed.tokens`) applied to its inputs, none for a source."""

    op: Literal["call"] = "call"
    instance: str
    inputs: tuple[Wire, ...]


class Add(Node):
    """The sum of two or more terms."""

    op: Literal["add"] = "add"
    terms: tuple[Wire, ...]


class Scale(Node):
    """A constant times a value."""

    op: Literal["scale"] = "scale"
    factor: float
    of: Wire


class Concat(Node):
    """Values one after the other along the sequence."""

    op: Literal["concat"] = "concat"
    parts: tuple[Wire, ...]


class Insert(Node):
    """`what` put into a value, behind its first `at` tokens."""

    op: Literal["insert"] = "insert"
    what: Wire
    at: int
    into: Wire


Wire = Annotated[Ref | Call | Add | Scale | Concat | Insert, Field(discriminator="op")]


class Assign(Node):
    name: str
    value: Wire


class Block(Node):
    """A block's formula; its value is the last value of its first input."""

    name: str
    inputs: tuple[str, ...]
    body: tuple[Assign, ...]


def calls(wire: Wire) -> list[Call]:
    """Every call in a formula, inner ones first."""
    match wire:
        case Call():
            return [c for w in wire.inputs for c in calls(w)] + [wire]
        case Add():
            return [c for w in wire.terms for c in calls(w)]
        case Scale():
            return calls(wire.of)
        case Concat():
            return [c for w in wire.parts for c in calls(w)]
        case Insert():
            return calls(wire.what) + calls(wire.into)
        case _:
            return []


for _model in (Call, Add, Scale, Concat, Insert, Assign, Block):
    _model.model_rebuild()
