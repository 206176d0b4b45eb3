"""What a model costs: parameters, FLOPs, cache and weight bytes. Exact, by counting, never an estimate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from specc.components.mask.base import Mask
from specc.components.mask.bidirectional import Bidirectional
from specc.ir.model import TOKENS, Instance, Layer, Model, Stack
from specc.ir.node import Component, Dims, Parameter
from specc.ir.wiring import calls

BYTES = {"fp32": 4, "fp16": 2, "bf16": 2, "fp8": 1, "int8": 1, "int4": 0.5}
EVERYTHING = Bidirectional()  # what a token of the decoder sees of the encoder's output
TOKENS_PER_PARAMETER = 20  # compute-optimal training (Hoffmann et al., 2022, https://arxiv.org/abs/2203.15556)


@dataclass(frozen=True)
class Costs:
    """Every figure of one model. FLOPs count a multiply-add as two and leave out norms, softmax and elementwise work."""

    model: Model

    # ---- parameters

    @cached_property
    def parameters(self) -> int:
        """Learned values, a tied or shared tensor once."""
        return sum(self.by_part.values())

    @cached_property
    def active(self) -> int:
        """Learned values that take part in the computation of one token."""
        return sum(times * active for _, active, times, _ in self._parts)

    @cached_property
    def stored(self) -> int:
        """Values that a checkpoint holds: the learned ones, and fixed tables."""
        return sum(times * p.size for parameters, _, times, _ in self._parts for p in parameters)

    @cached_property
    def by_part(self) -> dict[str, int]:
        """Learned values of the embedding, the attention, feed-forward and norm sublayers, and the head."""
        found: Counter[str] = Counter()
        for parameters, _, times, place in self._parts:
            found[place] += times * _learned(parameters)
        return {place: size for place, size in found.items() if size}

    @cached_property
    def _parts(self) -> list[tuple[tuple[Parameter, ...], int, int, str]]:
        """What every part holds, layers that are alike once: how much of it one token uses, how often it is there, and what it is."""
        found = []
        for stack in self.model.stacks:
            found += [_part(i, stack, 1, "embedding") for i in self._sources(stack)]
            schemes = [(parameters, 1) for parameters in stack.shared().values()]
            for layer, times in _alike(stack.stored):
                found += [_part(i, stack, times, i.component.axis) for i in layer.instances]
                schemes += [(parameters, times) for parameters in layer.schemes(stack.dims).values()]
            found += [(parameters, _learned(parameters), times, "position") for parameters, times in schemes]
            if stack.final_norm is not None:
                norm, dims = stack.final_norm, stack.dims
                found.append((norm.parameters(dims), norm.active(dims), 1, "final norm"))
        return found + [_part(h, self.model.stack, 1, "head") for h in self.model.heads]

    def _sources(self, stack: Stack) -> list[Instance]:
        """The parts of a stack's embedding, a token table that another stack before it has as well left out."""
        again = stack is not self.model.stacks[0] and self.model.shared_tokens
        return [i for i in stack.embedding.instances if not (again and i.key == TOKENS)]

    # ---- work

    def flops(self, context: int) -> int:
        """FLOPs of one token's forward pass that attends to `context` keys, or to as many as its masks let it see.

        Of a model with two stacks: of one token through the encoder, and one through the decoder.
        """
        return sum(times * part.flops(dims, min(context, mask and mask.reach or context)) for part, dims, times, mask in self._working)

    def forward(self, tokens: int) -> int:
        """FLOPs of the forward pass over one sequence: each token of a causal layer attends to itself and those before it.

        Of a model with two stacks: over a source and a target of that many tokens each.
        """
        dims = self.model.stack.dims
        once = [*self.model.heads, *(i for stack in self.model.stacks for i in stack.embedding.instances)]
        total = sum(part.component.flops_per_sequence(part.dims(dims)) for part in once)
        for part, dims, times, mask in self._working:
            alone, per_key = part.flops(dims, 0), part.flops(dims, 1) - part.flops(dims, 0)
            total += times * (tokens * alone + (per_key * mask.pairs(tokens) if mask and per_key else 0))
        return total

    @cached_property
    def _working(self) -> list[tuple[Component, Dims, int, Mask | None]]:
        """The same components, those of a layer with its mask."""
        found: list[tuple[Component, Dims, int, Mask | None]] = []
        for stack in self.model.stacks:
            found += [(i.component, i.dims(stack.dims), 1, None) for i in stack.embedding.instances]
            for layer, times in _alike(stack.layers):
                found += [(i.component, i.dims(stack.dims), times, layer.mask if i.memory is None else EVERYTHING) for i in _called(layer)]
        dims = self.model.stack.dims
        return found + [(h.component, h.dims(dims), 1, None) for h in self.model.heads]

    def training_flops(self, tokens: int) -> tuple[int, int | None]:
        """FLOPs to train on `tokens` tokens: 6ND, and counted: full windows forward, and twice that backward."""
        context = self.model.stack.dims.context
        return 6 * self.active * tokens, None if context is None else 3 * self.forward(context) * tokens // context

    @property
    def per_image(self) -> int | None:
        """FLOPs of the forward pass over one image of the model's own size; None where it reads text."""
        dims = self.model.stack.dims
        return self.forward(dims.context or 0) if dims.image else None

    @property
    def optimal_tokens(self) -> int:
        """Tokens for compute-optimal training."""
        return TOKENS_PER_PARAMETER * self.parameters

    # ---- memory

    def kv_cache(self, tokens: int, dtype: str = "bf16", reachable: bool = False) -> int:
        """Bytes of everything kept for one sequence of `tokens` tokens; 0 where nothing is kept.

        reachable: only what the masks still let a later token see. With an encoder, the sequence that it read is as long.
        """
        stack = self.model.stack
        if not stack.causal:
            return 0
        values = 0
        for layer, times in _alike(stack.layers):
            held = min(tokens, layer.mask.reach or tokens) if reachable else tokens
            for part in _called(layer):
                for state in part.component.state(part.dims(stack.dims)):
                    count = times
                    for extent in state.shape:
                        count *= {"B": 1, "S": held, "M": tokens}.get(extent, extent)
                    values += count
        return round(values * BYTES[dtype])

    def weight_bytes(self, dtype: str) -> int:
        return round(self.stored * BYTES[dtype])


def _part(instance: Instance, stack: Stack, times: int, place: str) -> tuple[tuple[Parameter, ...], int, int, str]:
    dims = instance.dims(stack.dims)
    return instance.component.parameters(dims), instance.component.active(dims), times, place


def _learned(parameters: tuple[Parameter, ...]) -> int:
    return sum(p.size for p in parameters if p.role != "fixed")


def _alike(layers: tuple[Layer, ...]) -> Iterator[tuple[Layer, int]]:
    """Layers, those that are one object once, with how often they stand there."""
    times = Counter(id(layer) for layer in layers)
    for layer in {id(layer): layer for layer in layers}.values():
        yield layer, times[id(layer)]


def _called(layer: Layer) -> Iterator[Instance]:
    """The sublayers of a layer, each as often as its block calls it."""
    for assign in layer.block.body:
        for call in calls(assign.value):
            yield layer.instance(call.instance)
