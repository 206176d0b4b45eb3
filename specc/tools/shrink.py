"""The miniature of a model: every kind of layer, ratio and field of it, in sizes that compute in a moment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isclose, log2
from types import MappingProxyType
from typing import Any

from specc.ir.model import Instance, Layer, Model, Stack
from specc.ir.node import Dims, Picture
from specc.ir.weights import Fused, Source, Transpose, WeightMap

SMALL = 2_000_000  # a model with fewer parameters is its own miniature
HEAD_WIDTH, LENGTH, COUNT, GRID, PATCH = 16, 48, 97, 4, 4
WIDEST_WINDOW = 64  # a proof's sequence is longer than any window


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of each size. Equal sizes stay equal, unequal ones unequal, and none grows."""

    old: Dims
    dim: int
    head_dims: tuple[int, int] = (1, 1)  # a head's width, before and after

    def width(self, width: int) -> int:
        """The width of the stack, of a table or of a hidden layer: in the proportion that the stack's own shrinks."""
        return self.dim if width == self.old.dim else _scaled(width, self.dim, self.old.dim, 4)

    def head_width(self, width: int) -> int:
        """A head's width, or a part of it."""
        old, new = self.head_dims
        return min(width, HEAD_WIDTH) if old == 1 else new if width == old else _scaled(width, new, old, 2)

    def heads(self, heads: int, kv_heads: int) -> tuple[int, int]:
        """Query and key-value heads: as many of the first for each of the second as before."""
        group = max(1, heads // kv_heads)
        least = min(kv_heads, 2 if group > 1 else 4)
        small = next(n for n in range(least, kv_heads + 1) if kv_heads % n == 0)
        return group * small, small

    def window(self, window: int) -> int:
        """A window; wider ones stay wider."""
        return window if window <= 4 else max(4, min(window, round(log2(window))))

    def length(self, length: int) -> int:
        """A context, or the length of a table of positions."""
        return min(length, LENGTH)

    def grid(self, grid: tuple[int, int]) -> tuple[int, int]:
        """Rows and columns of patches; equal ones stay equal, unequal ones unequal."""
        rows, columns = (min(extent, GRID) for extent in grid)
        return (rows, columns - (rows == columns)) if grid[0] > grid[1] else (rows - (rows == columns), columns) if grid[0] < grid[1] else (rows, columns)

    def patch(self, patch: tuple[int, int]) -> tuple[int, int]:
        """The extents of a patch in pixels."""
        return tuple(min(extent, PATCH) for extent in patch)

    def picture(self) -> Picture | None:
        """The image that the stack reads."""
        old = self.old.image
        if old is None:
            return None
        patch = self.patch(old.patch)
        size = tuple(count * extent for count, extent in zip(self.grid(old.grid), patch, strict=True))
        return Picture(size=size, channels=old.channels, patch=patch)

    def count(self, count: int) -> int:
        """A vocabulary, or classes."""
        return min(count, COUNT)

    def root(self, factor: float) -> float:
        """A factor; where it is a root of the stack's width, so it stays."""
        for power in (0.5, -0.5):
            if isclose(factor, self.old.dim**power, rel_tol=1e-12):
                return self.dim**power
        return factor

    def dims(self, depth: int) -> Dims:
        vocab, context, image = self.old.vocab, self.old.context, self.picture()
        if image is not None:
            context = image.patches + self.old.leading
        return Dims(
            dim=self.dim,
            vocab=None if vocab is None else self.count(vocab),
            context=context if context is None or image else self.length(context),
            depth=depth,
            image=image,
        )


def miniature(model: Model) -> Model:
    """A small model of the same structure; the model itself where it is small."""
    size = sum(p.size for p in model.parameters().values())
    reach = max((layer.mask.reach or 0 for stack in model.stacks for layer in stack.layers), default=0)
    if size < SMALL and reach <= WIDEST_WINDOW:
        return model
    plans = _plans(model)
    stacks, memory = [], None
    for stack, plan in zip(model.stacks, plans, strict=True):
        stacks.append(_stack(stack, plan, memory))
        memory = plan.dim
    heads = tuple(_instance(head, plans[-1]) for head in model.heads)
    groups = {n: small for stack, plan in zip(model.stacks, plans, strict=True) for n, small in _head_counts(stack, plan)}
    return model.replaced(stacks=tuple(stacks), heads=heads, weights=tuple(_weights(w, groups) for w in model.weights))


def _plans(model: Model) -> list[Plan]:
    """The small sizes of each stack; stacks as wide as one another stay so."""
    plans = [plan_of(stack) for stack in model.stacks]
    return [replace(plan, dim=max(p.dim for p in plans if p.old.dim == plan.old.dim)) for plan in plans]


def plan_of(stack: Stack) -> Plan:
    """The small sizes of a stack: as many heads as its ratios need, and a width that is to theirs as it was."""
    found = next(_with_heads(stack), None)
    if found is None:
        return Plan(stack.dims, min(stack.dims.dim, 64))
    heads, _ = Plan(stack.dims, stack.dims.dim).heads(found.heads, getattr(found, "kv_heads", found.heads))
    head_dim = min(found.head_dim, HEAD_WIDTH)
    inner, small = found.heads * found.head_dim, heads * head_dim
    dim = small if stack.dims.dim == inner else _scaled(stack.dims.dim, small, inner, 4)
    return Plan(stack.dims, dim, (found.head_dim, head_dim))


def _with_heads(stack: Stack) -> Iterator[Any]:
    """The sublayers that have heads."""
    return (i.component for layer in stack.layers for i in layer.instances if hasattr(i.component, "head_dim"))


def _scaled(size: int, new: int, old: int, step: int) -> int:
    """A size in the proportion new : old, a multiple of `step`; never `new` itself, and none grows."""
    if new == old:
        return size
    found = max(step, round(size * new / old / step) * step)
    if found == new and size != old:
        found += step if size > old else -step
    return max(1, min(found, size))


def _stack(stack: Stack, plan: Plan, memory: int | None) -> Stack:
    small: dict[int, Layer] = {}
    for layer in stack.layers:  # layers that are alike are one object
        if id(layer) not in small:
            small[id(layer)] = _layer(layer, plan, memory)
    chosen = _chosen([small[id(layer)] for layer in stack.layers], stack.sets, stack.sources)
    layers, sets = tuple(small[id(stack.layers[n])] for n in chosen), _renumbered([stack.sets[n] for n in chosen] if stack.sets else [])
    embedding = stack.embedding.replaced(instances=tuple(_instance(i, plan) for i in stack.embedding.instances))
    final_norm = stack.final_norm and stack.final_norm.shrunk(plan)
    return stack.replaced(dims=plan.dims(len(layers)), embedding=embedding, layers=layers, sets=sets, final_norm=final_norm)


def _layer(layer: Layer, plan: Plan, memory: int | None) -> Layer:
    """memory: the small width of the encoder's output."""
    instances = tuple(_instance(i, plan, memory) for i in layer.instances)
    return layer.replaced(position=layer.position.shrunk(plan), mask=layer.mask.shrunk(plan), instances=instances)


def _instance(instance: Instance, plan: Plan, memory: int | None = None) -> Instance:
    beside = None if instance.memory is None else memory
    return instance.replaced(component=instance.component.shrunk(plan), width=plan.width(instance.width), memory=beside)


def _renumbered(sets: list[int]) -> tuple[int, ...]:
    """Sets of weights counted anew."""
    numbers = {old: new for new, old in enumerate(dict.fromkeys(sets))}
    return tuple(numbers[n] for n in sets) if len(numbers) < len(sets) else ()


def _chosen(layers: list[Layer], sets: tuple[int, ...] = (), sources: Mapping[int, int] = MappingProxyType({})) -> list[int]:
    """In their order: the first layer of each kind, a second one where its numbers differ, and at least two in all.

    Of a set of weights that several layers share two, and two sets; with a layer the one whose keys and values it reads.
    """
    names = {id(layer): _kind(layer) for layer in {id(la): la for la in layers}.values()}
    kinds: dict[str, list[int]] = {}
    for n, layer in enumerate(layers):
        alike = kinds.setdefault(names[id(layer)], [n])
        if len(alike) == 1 and layers[alike[0]] != layer:
            alike.append(n)
    chosen = {n for numbers in kinds.values() for n in numbers}
    if several := [numbers for number in dict.fromkeys(sets) if len(numbers := [n for n, other in enumerate(sets) if other == number]) > 1]:
        chosen |= {n for numbers in several[:2] for n in numbers[:2]}
    chosen |= {sources[n] for n in chosen if n in sources}
    for n in range(len(layers)):
        if len(chosen) < 2:
            chosen.add(n)
    return sorted(chosen)


def _kind(layer: Layer) -> str:
    """What a layer is, whatever its numbers: a scale that depends on the layer makes no kinds of its own."""

    def blank(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: blank(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [blank(inner) for inner in value]
        return "number" if isinstance(value, float) else value

    return json.dumps(blank(layer.model_dump(mode="json")), sort_keys=True)


def _head_counts(stack: Stack, plan: Plan) -> Iterator[tuple[int, int]]:
    for part in _with_heads(stack):
        kv_heads = getattr(part, "kv_heads", part.heads)
        yield from zip((kv_heads, part.heads), reversed(plan.heads(part.heads, kv_heads)), strict=True)


def _weights(weight_map: WeightMap, groups: dict[int, int]) -> WeightMap:
    """The map with as many groups in its fused tensors as there are heads now."""

    def small(source: Source) -> Source:
        match source:
            case Fused():
                return source.replaced(of=small(source.of), groups=groups.get(source.groups, source.groups) if source.groups > 1 else 1)
            case Transpose():
                return source.replaced(of=small(source.of))
        return source

    return weight_map.replaced(rules=tuple(rule.replaced(source=small(rule.source)) for rule in weight_map.rules))
