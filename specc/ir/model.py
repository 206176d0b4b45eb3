"""The typed model: complete and explicit. The one contract between the front end and the back ends."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from pydantic import Field

from specc.components.registry import slot
from specc.ir.node import Component, Dims, HeadDims, Input, Node, Parameter
from specc.ir.weights import WeightMap
from specc.ir.wiring import Block, Wire

SCHEMA_VERSION = 1
TOKENS = "embed_tokens"


class Instance(Node):
    """A component under the name the wiring calls it by; `width` is the width of what comes in.

    memory: the width of the encoder's output, where that comes in as a second input.
    shared: whether its keys and values are those of an earlier layer.
    """

    path: str
    component: slot("any")
    width: int
    memory: int | None = None
    shared: bool = False

    @property
    def key(self) -> str:
        """Its name in the state dict: `norm.attention` is `attention_norm`, `embed.tokens` is `embed_tokens`."""
        field, _, label = self.path.partition(".")
        if not label:
            return field
        return f"embed_{label}" if field == "embed" else f"{label}_{field}"

    def dims(self, dims: Dims) -> Dims:
        if (dims.dim, dims.memory, dims.shared) == (self.width, self.memory, self.shared):
            return dims
        return dims.model_copy(update={"dim": self.width, "memory": self.memory, "shared": self.shared})

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        return self.component.parameters(self.dims(dims))


class Layer(Node):
    """One layer: its label, its wiring, the sublayers that the wiring calls, and what attention needs to know of it.

    kv_from: the label of the layers whose keys and values its attention reads, where it has none of its own.
    """

    label: str
    kv_from: str | None = None
    position: slot("position")
    mask: slot("mask")
    block: Block
    instances: tuple[Instance, ...]

    def instance(self, path: str) -> Instance:
        return next(i for i in self.instances if i.path == path)

    @property
    def served(self) -> tuple[Instance, ...]:
        """The attentions that the position scheme serves: not those that read the encoder's output."""
        return tuple(i for i in self.instances if i.memory is None and hasattr(i.component, "head_dim"))

    def parameters(self, dims: Dims) -> dict[str, tuple[Parameter, ...]]:
        """What each part of the layer holds, by its key."""
        return {part.key: part.parameters(dims) for part in self.instances} | self.schemes(dims)

    def schemes(self, dims: Dims) -> dict[str, tuple[Parameter, ...]]:
        """What the position scheme holds in each attention."""
        if not self.position.scores:
            return {}
        return {f"{part.key}.position": self.position.parameters(head_dims(part, dims)) for part in self.served}


def head_dims(attention: Instance, dims: Dims) -> HeadDims:
    """What the position scheme of an attention may ask for."""
    part, sizes = attention.component, attention.dims(dims)
    kv_heads = getattr(part, "kv_heads", part.heads)
    return HeadDims(**dict(sizes), heads=part.heads, kv_heads=kv_heads, head_dim=part.head_dim)


class Embedding(Node):
    """The formula that makes the first hidden state, and its parts."""

    value: Wire
    instances: tuple[Instance, ...]

    def instance(self, path: str) -> Instance:
        return next(i for i in self.instances if i.path == path)


class Stack(Node):
    """A tower of layers. `name` is empty where the model has only one.

    sets: for each layer the number of its set of weights, where layers share some; else empty, and each has its own.
    """

    name: Literal["", "encoder", "decoder"] = ""
    dims: Dims
    embedding: Embedding
    layers: tuple[Layer, ...]
    sets: tuple[int, ...] = ()
    final_norm: slot("norm", optional=True)

    @property
    def padded(self) -> bool:
        """Whether rows may hold padding, of which an attention mask tells: text may, images do not."""
        return self.dims.image is None

    @property
    def causal(self) -> bool:
        """Whether no token sees a later one, so that keys and values can be kept. An encoder is called once, whatever its masks."""
        return self.name != "encoder" and all(layer.mask.causal for layer in self.layers)

    @property
    def prefix(self) -> str:
        """What the keys of its parameters begin with in the state dict."""
        return f"{self.name}." if self.name else ""

    @cached_property
    def distinct(self) -> tuple[Layer, ...]:
        """Every layer once that stands in it as one object many times."""
        return tuple({id(layer): layer for layer in self.layers}.values())

    @cached_property
    def stored(self) -> tuple[Layer, ...]:
        """The layers, those that share a set of weights once: as the state dict counts them."""
        if not self.sets:
            return self.layers
        first = dict(zip(reversed(self.sets), reversed(self.layers), strict=True))
        return tuple(first[n] for n in range(len(first)))

    def set_of(self, number: int) -> int:
        """Which of them a layer is."""
        return self.sets[number] if self.sets else number

    @cached_property
    def sources(self) -> dict[int, int]:
        """The number of the layer whose keys and values a layer reads, by its own: the nearest before it that has the label it names."""
        latest: dict[str, int] = {}
        found: dict[int, int] = {}
        for number, layer in enumerate(self.layers):
            if layer.kv_from in latest:
                found[number] = latest[layer.kv_from]
            latest[layer.label] = number
        return found

    @cached_property
    def schemes(self) -> dict[tuple[Component, int, int], str]:
        """The keys under which position schemes hold what all their layers share, by scheme, heads and head width of an attention."""
        groups: dict[tuple, str] = {}  # what is the same tensors -> the label of its first layer
        each: dict[tuple[Component, int, int], tuple] = {}
        for layer in self.distinct:
            for part in layer.served:
                if parameters := self.scheme(layer, part):
                    group = each[layer.position, part.component.heads, part.component.head_dim] = (layer.position, tuple(p.shape for p in parameters))
                    groups.setdefault(group, layer.label)
        labels = list(groups.values())
        names = {
            group: "position" if len(groups) < 2 else f"position_{label}" if labels.count(label) == 1 else f"position_{label}_{n}"
            for n, (group, label) in enumerate(groups.items())
        }
        return {served: names[group] for served, group in each.items()}

    def scheme(self, layer: Layer, attention: Instance | None = None) -> tuple[Parameter, ...]:
        """What a layer's position scheme shares with the other layers that have it, for one of its attentions."""
        served = attention or next(iter(layer.served), None)
        return layer.position.shared_parameters(head_dims(served, self.dims)) if served else ()

    def shared(self) -> dict[str, tuple[Parameter, ...]]:
        """What is held once for all layers, by its key."""
        found = {}
        for layer in self.distinct:
            for part in layer.served:
                if parameters := self.scheme(layer, part):
                    found.setdefault(self.schemes[layer.position, part.component.heads, part.component.head_dim], parameters)
        return found


class Training(Node):
    """What only training uses: no inference number and no fingerprint depends on it."""

    dropout: float = Field(default=0.0, ge=0, lt=1)
    embed_dropout: float = Field(default=0.0, ge=0, lt=1)
    final_dropout: float = Field(default=0.0, ge=0, lt=1)
    attention_dropout: float = Field(default=0.0, ge=0, lt=1)
    objective: tuple[slot("objective"), ...] = ()
    init: slot("init", optional=True) = None


class Model(Node):
    """A whole model.

    shared_tokens: whether an encoder and a decoder read one token table; of a model with a single stack it says nothing.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    name: str
    doc: str = ""
    stacks: tuple[Stack, ...]
    heads: tuple[Instance, ...]
    shared_tokens: bool = True
    weights: tuple[WeightMap, ...] = ()
    training: Training = Training()

    @cached_property
    def stack(self) -> Stack:
        """The stack that the heads read: the only one, or the decoder."""
        return self.stacks[-1]

    @property
    def encoder(self) -> Stack | None:
        """The stack whose output the other one reads, where there are two."""
        return self.stacks[0] if len(self.stacks) > 1 else None

    @property
    def tables(self) -> dict[str, str]:
        """For each stack the key of its token table: one for both, or each its own."""
        shared = len(self.stacks) > 1 and self.shared_tokens
        return {stack.name: f"{'' if shared else stack.prefix}{TOKENS}" for stack in self.stacks}

    @cached_property
    def outputs(self) -> dict[str, tuple[int | str, ...]]:
        """What the heads give, by name, with its extents: integers and the symbols batch and sequence."""
        found = {}
        for head in self.heads:
            found |= {name: head.component.output_shape(name, head.dims(self.stack.dims)) for name in head.component.outputs}
        return found

    def places(self) -> Iterator[tuple[str, tuple[Parameter, ...]]]:
        """Everything that holds parameters: its key in the state dict, and what it holds. A token table that two stacks share comes once."""
        tables, seen = self.tables, set()
        for stack in self.stacks:
            for part in stack.embedding.instances:
                key = tables[stack.name] if part.key == TOKENS else stack.prefix + part.key
                if key not in seen:
                    yield key, part.parameters(stack.dims)
                seen.add(key)
            for key, parameters in stack.shared().items():
                yield stack.prefix + key, parameters
            for number, layer in enumerate(stack.stored):
                for key, parameters in layer.parameters(stack.dims).items():
                    yield f"{stack.prefix}layers.{number}.{key}", parameters
            if stack.final_norm is not None:
                yield f"{stack.prefix}final_norm", stack.final_norm.parameters(stack.dims)
        for head in self.heads:
            yield head.key, head.parameters(self.stack.dims)

    def inputs(self, stack: Stack | None = None) -> dict[str, Input]:
        """What the components of a stack (the one that the heads read) need from the caller, by name: the tokens first, what masks read last."""
        stack = stack or self.stack
        parts = [i.component for i in stack.embedding.instances]
        for layer in stack.distinct:
            parts += [*(i.component for i in layer.instances), layer.position, layer.mask]
        if stack is self.stack:
            parts += [head.component for head in self.heads]
        return {wanted.name: wanted for part in parts for wanted in part.inputs()}

    def parameters(self) -> dict[str, Parameter]:
        """Every stored tensor by its key in the state dict, in the order of the model."""
        return {f"{key}.{parameter.name}": parameter for key, parameters in self.places() for parameter in parameters}
