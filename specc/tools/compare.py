"""Models side by side: sizes, parameters, work, memory, and what each has on every axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from specc.ir.model import Layer, Model, Stack
from specc.tools.analyse import Costs
from specc.tools.draw.folded import told
from specc.tools.spell import brief, formula, size, statements


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a comparison. numbers: what can be divided, for the ratios to the first model; empty where nothing can."""

    group: str
    name: str
    values: tuple[str, ...]
    numbers: tuple[float | None, ...] = ()

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1

    @property
    def ratios(self) -> tuple[float | None, ...]:
        """Of every model but the first, to the first."""
        first = self.numbers[0] if self.numbers else None
        return tuple(other / first if first and other is not None else None for other in self.numbers[1:])


def compared(models: list[Model]) -> list[Row]:
    """Every line, in the order of a page."""
    costs = [Costs(model) for model in models]
    return [*_sizes(models), *_parameters(costs), *_work(costs), *_memory(costs), *_axes(models)]


def _numbers(group: str, name: str, found: list[float | None], say: Callable[[Any], str]) -> Row:
    return Row(group, name, tuple("" if value is None else say(value) for value in found), tuple(found))


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _sizes(models: list[Model]) -> Iterator[Row]:
    yield _numbers("sizes", "layers", [sum(len(stack.layers) for stack in model.stacks) for model in models], _count)
    for name, field in (("width", "dim"), ("vocabulary", "vocab"), ("context", "context")):
        found = [getattr(model.stack.dims, field) for model in models]
        if any(value is not None for value in found):
            yield _numbers("sizes", name, found, _count)


def _parameters(costs: list[Costs]) -> Iterator[Row]:
    yield _numbers("parameters", "all", [c.parameters for c in costs], _count)
    yield _numbers("parameters", "active for a token", [c.active if c.per_image is None else None for c in costs], _count)
    for part in dict.fromkeys(part for c in costs for part in c.by_part):
        yield _numbers("parameters", part, [c.by_part.get(part, 0) for c in costs], _count)


def _work(costs: list[Costs]) -> Iterator[Row]:
    """FLOPs at the same contexts for all: of one token alone, and with as many before it as each of the models takes."""
    if any(c.per_image is None for c in costs):
        for context in _contexts(costs, 1):
            found = [c.flops(context) if c.per_image is None and _takes(c, context) else None for c in costs]
            yield _numbers("FLOPs", f"a token, context {context:,}", found, _count)
    if any(c.per_image is not None for c in costs):
        yield _numbers("FLOPs", "an image", [c.per_image for c in costs], _count)


def _memory(costs: list[Costs]) -> Iterator[Row]:
    for dtype in ("bf16", "fp8"):
        yield _numbers("bytes", f"weights in {dtype}", [c.weight_bytes(dtype) for c in costs], size)
    if any(c.kv_cache(1) for c in costs):
        yield _numbers("bytes", "cache of a token in bf16", [c.kv_cache(1) - c.kv_cache(0) for c in costs], size)
        for tokens in _contexts(costs):
            held = [c.kv_cache(tokens) if _takes(c, tokens) else None for c in costs]
            yield _numbers("bytes", f"cache of {tokens:,} tokens", held, size)
            reached = [c.kv_cache(tokens, reachable=True) if _takes(c, tokens) else None for c in costs]
            if reached != held:
                yield _numbers("bytes", f"cache of {tokens:,} tokens, what masks reach", reached, size)


def _contexts(costs: list[Costs], *more: int) -> list[int]:
    return sorted({*more, *(c.model.stack.dims.context for c in costs if c.model.stack.dims.context and c.per_image is None)})


def _takes(costs: Costs, tokens: int) -> bool:
    context = costs.model.stack.dims.context
    return context is None or tokens <= context


# ---- axes


def _axes(models: list[Model]) -> Iterator[Row]:
    for stack in dict.fromkeys(stack.name for model in models for stack in model.stacks):
        group = f"axes of the {stack}" if stack else "axes"
        stacks = [next((s for s in model.stacks if s.name == stack), None) for model in models]
        for name, say in _AXES.items():
            values = tuple("" if s is None else say(s) for s in stacks)
            if any(values):
                yield Row(group, name, values)
        for path in dict.fromkeys(i.path for s in stacks if s for i in s.embedding.instances):
            parts = [next((i.component for i in s.embedding.instances if i.path == path), None) if s else None for s in stacks]
            yield Row(group, path, tuple("" if part is None else brief(part) for part in parts))
        for path in dict.fromkeys(i.path for s in stacks if s for layer in s.distinct for i in layer.instances):
            values = tuple("" if s is None else _each(s, lambda layer, path=path: _sublayer(layer, path)) for s in stacks)
            yield Row(group, path, values)
    heads = tuple("\n".join(brief(head.component) for head in model.heads) for model in models)
    yield Row("axes", "head", heads)


def _sublayer(layer: Layer, path: str) -> str:
    found = next((i for i in layer.instances if i.path == path), None)
    return "" if found is None else brief(found.component)


def _each(stack: Stack, say: Callable[[Layer], str]) -> str:
    """What all layers have, or what the layers of each kind have."""
    by_label: dict[str, dict[str, None]] = {}
    for layer in stack.distinct:
        by_label.setdefault(layer.label, {})[say(layer)] = None
    found_in = {
        label: " / ".join(found) if len(found) < 3 else f"{next(iter(found))}, and {len(found) - 1} more"
        for label, found in by_label.items()
    }
    if len(set(found_in.values())) == 1:
        return next(iter(found_in.values()))
    return "\n".join(f"{label}: {text or 'none'}" for label, text in found_in.items())


_AXES: dict[str, Callable[[Stack], str]] = {
    "layers": told,
    "embed": lambda stack: formula(stack.embedding.value),
    "position": lambda stack: _each(stack, lambda layer: brief(layer.position)),
    "mask": lambda stack: _each(stack, lambda layer: brief(layer.mask)),
    "wiring": lambda stack: _each(stack, lambda layer: "\n".join(statements(layer.block))),
    "final norm": lambda stack: brief(stack.final_norm),
}
