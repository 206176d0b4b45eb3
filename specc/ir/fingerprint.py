"""The architecture's fingerprint: the same for every text that means the same numbers, now and in later releases."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from specc.ir.model import Embedding, Instance, Layer, Model, Stack
from specc.ir.node import Component
from specc.ir.wiring import Add, Block, Call, Concat, Insert, Ref, Scale, Wire

VERSION = 1  # of what is hashed; to change it changes every fingerprint


def fingerprint(model: Model) -> str:
    """sha256 of the stacks and heads in a canonical form.

    Left out: names (of the model, of blocks and their local values), docs, labels of layers, weights maps, what only
    training or the runtime uses, and fields at their declared default, so that a field that a release adds with a neutral default keeps
    the fingerprint of every older text.
    """
    content = {"version": VERSION, "stacks": [_stack(s) for s in model.stacks], "heads": [_instance(h) for h in model.heads]}
    if len(model.stacks) > 1 and not model.shared_tokens:
        content["shared_tokens"] = False
    return hashlib.sha256(_text(content).encode()).hexdigest()


def _text(content: Any) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _stack(stack: Stack) -> dict[str, Any]:
    """Equal layers are described once and told apart by number, so that ten thousand of them cost little."""
    by_object: dict[int, int] = {}
    by_content: dict[str, int] = {}
    for layer in stack.layers:
        if id(layer) not in by_object:
            by_object[id(layer)] = by_content.setdefault(_text(_layer(layer)), len(by_content))
    return {
        "name": stack.name,
        "dims": content_of(stack.dims),
        "embedding": _embedding(stack.embedding),
        "kinds": list(by_content),
        "order": [by_object[id(layer)] for layer in stack.layers],
        "final_norm": _value(stack.final_norm),
    } | ({"sets": list(stack.sets)} if stack.sets else {}) | ({"sources": sorted(stack.sources.items())} if stack.sources else {})


def _layer(layer: Layer) -> dict[str, Any]:
    return {
        "position": content_of(layer.position),
        "mask": content_of(layer.mask),
        "block": _block(layer.block),
        "instances": {i.path: _instance(i) for i in layer.instances},
    }


def _embedding(embedding: Embedding) -> dict[str, Any]:
    flow = Flow()
    return {"value": flow.from_(flow.add(embedding.value, {})), "instances": {i.path: _instance(i) for i in embedding.instances}}


def _instance(instance: Instance) -> dict[str, Any]:
    beside = ({} if instance.memory is None else {"memory": instance.memory}) | ({"shared": True} if instance.shared else {})
    return {"width": instance.width, "component": content_of(instance.component)} | beside


# ---- fields


def content_of(node: BaseModel) -> dict[str, Any]:
    """A node without what only training or the runtime uses and without what is as declared."""
    found = {"axis": node.axis, "kind": node.kind} if isinstance(node, Component) else {}
    for name, value in node:
        if isinstance(node, Component) and (name == "kind" or type(node).role(name) != "architecture"):
            continue
        default = type(node).model_fields[name].default
        if default is PydanticUndefined or _value(value) != _value(default):
            found[name] = _value(value)
    return found


def _value(value: Any) -> Any:
    """A field's value as JSON. A float that is whole is the integer: 1e4 and 10_000 are one theta."""
    if isinstance(value, BaseModel):
        return content_of(value)
    if isinstance(value, (tuple, list)):
        return [_value(inner) for inner in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return value


# ---- wiring


class Flow:
    """Dataflow as a table of operations on earlier ones: how values were named, and lines that nothing uses, leave no trace."""

    def __init__(self) -> None:
        self.operations: list[tuple[Any, ...]] = []
        self.numbers: dict[tuple[Any, ...], int] = {}

    def number(self, *operation: Any) -> int:
        """Operations of the same kind on the same values are one."""
        if operation not in self.numbers:
            self.numbers[operation] = len(self.operations)
            self.operations.append(operation)
        return self.numbers[operation]

    def add(self, wire: Wire, values: Mapping[str, int]) -> int:
        """The number of a formula's value; `values` are those of the names in it."""
        match wire:
            case Ref():
                return values[wire.name]
            case Call():
                return self.number("call", wire.instance, *(self.add(w, values) for w in wire.inputs))
            case Add():
                return self.number("add", "", *(self.add(w, values) for w in wire.terms))
            case Scale():
                return self.number("scale", _value(wire.factor), self.add(wire.of, values))
            case Concat():
                return self.number("concat", "", *(self.add(w, values) for w in wire.parts))
            case Insert():
                return self.number("insert", wire.at, self.add(wire.what, values), self.add(wire.into, values))
        raise AssertionError(wire)

    def from_(self, result: int) -> list[list[Any]]:
        """The operations that a value needs, in an order that follows from the value alone; it is the last of them."""
        places: dict[int, int] = {}
        table: list[list[Any]] = []
        waiting = [result]
        while waiting:
            number = waiting[-1]
            kind, what, *inputs = self.operations[number]
            open_ = [] if kind == "input" or number in places else [i for i in inputs if i not in places]
            if open_:
                waiting.append(open_[0])
                continue
            waiting.pop()
            if number not in places:
                places[number] = len(table)
                table.append([kind, what, *(places[i] for i in inputs)])
        return table


def _block(block: Block) -> dict[str, Any]:
    return {"inputs": len(block.inputs), "value": operations(block)}


def operations(block: Block) -> list[list[Any]]:
    """A block's dataflow without its names: each operation as [kind, what, numbers of its inputs]; the last one is the value."""
    flow = Flow()
    values = {name: flow.number("input", number) for number, name in enumerate(block.inputs)}
    for assign in block.body:
        values[assign.name] = flow.add(assign.value, values)
    return flow.from_(values[block.inputs[0]])
