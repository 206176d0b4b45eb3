"""What a layer needs to read the keys and values of an earlier one (Brandon et al., 2024, https://arxiv.org/abs/2405.12981)."""

from __future__ import annotations

from collections.abc import Iterator

from specc.ir.model import Instance, Layer, Stack
from specc.ir.node import Finding


def findings(stack: Stack) -> Iterator[tuple[Layer, Finding]]:
    """What is wrong with the layers that have no keys and values of their own, each kind of layer once."""
    seen: set[str] = set()
    for number, layer in enumerate(stack.layers):
        if layer.kv_from is None or layer.label in seen:
            continue
        found = next(_of(stack, number), None)
        if found is not None:
            seen.add(layer.label)
            yield layer, found


def _of(stack: Stack, number: int) -> Iterator[Finding]:
    layer = stack.layers[number]
    if stack.name or stack.sets or not stack.causal:
        what = "of an encoder-decoder" if stack.name else "that share weights" if stack.sets else "that see later tokens"
        yield Finding("kv_from", "CAP001", f"shared keys and values cannot be compiled yet in layers {what}")
    if number not in stack.sources:
        help_ = "a layer reads from one that stands before it in `layers`"
        yield Finding("kv_from", "SHP012", f"no layer `{layer.kv_from}` stands before layer {number}, which is to read its keys and values", help_)
        return
    source = stack.layers[stack.sources[number]]
    if source.kv_from is not None:
        help_ = None if source.kv_from == source.label else f"`kv_from = {source.kv_from}` reads the layer that has them"
        yield Finding("kv_from", "SHP012", f"the layer `{source.label}` has no keys and values of its own", help_)
    if any(len(_attentions(one)) != 1 for one in stack.layers):
        yield Finding("kv_from", "CAP001", "shared keys and values cannot be compiled yet where a layer has not just one attention")
        return
    (mine,), (theirs,) = _attentions(layer), _attentions(source)
    for part in (mine, theirs):
        if not part.component.takes_shared:
            yield Finding("kv_from", "CAP001", f"keys and values of `{part.component.kind}` cannot be shared yet")
            return
    for name in ("kv_heads", "head_dim"):
        own, other = getattr(mine.component, name), getattr(theirs.component, name)
        if own != other:
            yield Finding("kv_from", "SHP012", f"`{name}` is {own} here and {other} in the layer `{source.label}`, whose keys and values are read")
    if layer.position != source.position:
        yield Finding("kv_from", "SHP012", f"the position scheme is not that of the layer `{source.label}`, whose keys are read as they are")
    if (layer.mask.reach or float("inf")) > (source.mask.reach or float("inf")):
        yield Finding("kv_from", "SHP012", f"the mask reaches further back than that of the layer `{source.label}`, which may forget what lies beyond")
    if layer.position.scores:
        yield Finding("kv_from", "CAP001", f"shared keys and values cannot be compiled yet under `{layer.position.kind}`")
    yield from mine.component.check_shared()


def _attentions(layer: Layer) -> list[Instance]:
    return [part for part in layer.instances if part.component.axis == "attention"]
