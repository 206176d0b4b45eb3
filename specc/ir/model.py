"""The typed model: complete and explicit. The one contract between the front end and the back ends."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from pydantic import Field

from specc.components.registry import slot
from specc.ir.node import Component, Dims, Input, Node, Parameter
from specc.ir.weights import WeightMap
from specc.ir.wiring import Block, Wire

SCHEMA_VERSION = 1


class Instance(Node):
    """A component under the name the wiring calls it by; `width` is the width of what comes in."""

    path: str
    component: slot("any")
    width: int

    @property
    def key(self) -> str:
        """Its name in the state dict: `norm.attention` is `attention_norm`, `embed.tokens` is `embed_tokens`."""
        field, _, label = self.path.partition(".")
        if not label:
            return field
        return f"embed_{label}" if field == "embed" else f"{label}_{field}"

    def dims(self, dims: Dims) -> Dims:
        return dims if dims.dim == self.width else dims.model_copy(update={"dim": self.width})

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return self.component.parameters(self.dims(dims))


class Layer(Node):
    """One layer: its label, its wiring, the sublayers that the wiring calls, and what attention needs to know of it."""

    label: str
    position: slot("position")
    mask: slot("mask")
    block: Block
    instances: tuple[Instance, ...]

    def instance(self, path: str) -> Instance:
        return next(i for i in self.instances if i.path == path)


class Embedding(Node):
    """The formula that makes the first hidden state, and its parts."""

    value: Wire
    instances: tuple[Instance, ...]

    def instance(self, path: str) -> Instance:
        return next(i for i in self.instances if i.path == path)


class Stack(Node):
    """A tower of layers. `name` is empty where the model has only one."""

    name: Literal["", "encoder", "decoder"] = ""
    dims: Dims
    embedding: Embedding
    layers: tuple[Layer, ...]
    final_norm: slot("norm", optional=True)

    @property
    def causal(self) -> bool:
        """Whether no token sees a later one, so that keys and values can be kept."""
        return all(layer.mask.causal for layer in self.layers)


class Training(Node):
    """What only training uses: no inference number and no fingerprint depends on it."""

    dropout: float = Field(default=0.0, ge=0, lt=1)
    attention_dropout: float = Field(default=0.0, ge=0, lt=1)


class Model(Node):
    """A whole model."""

    schema_version: Literal[1] = SCHEMA_VERSION
    name: str
    doc: str = ""
    stacks: tuple[Stack, ...]
    heads: tuple[Instance, ...]
    weights: tuple[WeightMap, ...] = ()
    training: Training = Training()

    @cached_property
    def stack(self) -> Stack:
        """The stack that the heads read: the only one, or the decoder."""
        return self.stacks[-1]

    def places(self) -> Iterator[tuple[str, Component, Dims]]:
        """Every component that holds parameters: its key in the state dict, itself, and the sizes it sees."""
        for stack in self.stacks:
            prefix = f"{stack.name}." if stack.name else ""
            for part in stack.embedding.instances:
                yield prefix + part.key, part.component, part.dims(stack.dims)
            for number, layer in enumerate(stack.layers):
                for part in layer.instances:
                    yield f"{prefix}layers.{number}.{part.key}", part.component, part.dims(stack.dims)
            if stack.final_norm is not None:
                yield f"{prefix}final_norm", stack.final_norm, stack.dims
        for head in self.heads:
            yield head.key, head.component, head.dims(self.stack.dims)

    def inputs(self) -> dict[str, Input]:
        """What the components need from the caller, by name: the tokens first, what masks read last."""
        parts = [i.component for i in self.stack.embedding.instances]
        for layer in {id(layer): layer for layer in self.stack.layers}.values():
            parts += [*(i.component for i in layer.instances), layer.position, layer.mask]
        parts += [head.component for head in self.heads]
        return {wanted.name: wanted for part in parts for wanted in part.inputs()}

    def parameters(self) -> dict[str, Parameter]:
        """Every stored tensor by its key in the state dict, in the order of the model."""
        found = {}
        for key, component, dims in self.places():
            for parameter in component.parameters(dims):
                found[f"{key}.{parameter.name}"] = parameter
        return found
