"""The components of two models side by side, one set of neighbours at a time: a kind of layer, or what stands around the layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from specc.ir.model import TOKENS, Instance, Layer, Model, Stack
from specc.ir.node import Component, Dims, Parameter
from specc.tools.diff.facts import Fact, component_facts, neutral
from specc.tools.diff.reason import Level
from specc.tools.diff.tensors import Tensor, compare_parts
from specc.tools.diff.wiring import Wiring, embedding_wiring, layer_wiring
from specc.tools.spell import formula, statements


@dataclass(frozen=True, slots=True)
class Part:
    """A component where it stands. `path` as the text calls it, `key` as the state dict does."""

    path: str
    key: str
    component: Component
    dims: Dims
    pointer: str


@dataclass(slots=True)
class Compared:
    """What differs in one set of neighbours. `names`: pairs of names that mean the same, with what they name."""

    facts: list[Fact] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    names: list[tuple[str, str, str]] = field(default_factory=list)


def layers(old: Layer, new: Layer, old_dims: Dims, new_dims: Dims) -> Compared:
    """Two layers at one place."""
    found = Compared()
    found.facts += component_facts(old.position, new.position, "position", "position")
    found.facts += component_facts(old.mask, new.mask, "mask", "mask")
    wiring = layer_wiring(old, new)
    if wiring.kind in ("other", "reordered"):
        texts = _differing(statements(old.block), statements(new.block))
        found.facts.append(_wired("block", *texts, wiring, "block"))
    elif wiring.kind == "renamed":
        found.names += [("block", a, b) for a, b in wiring.parts.items() if a != b]
    elif old.block != new.block:
        names = (
            (old.block.name, new.block.name)
            if old.block.name != new.block.name
            else _differing(statements(old.block), statements(new.block))
        )
        found.names.append(("block", *names))
    if old.label != new.label:
        found.names.append(("label", old.label, new.label))
    _parts(found, parts_of(old, old_dims), parts_of(new, new_dims), wiring.parts)
    keys = {f"{i.key}.position": f"{new.instance(wiring.parts[i.path]).key}.position" for i in old.served if wiring.parts.get(i.path)}
    _schemes(found, old.schemes(old_dims), new.schemes(new_dims), keys)
    return found


def around(old: Model, new: Model, before: Stack, after: Stack) -> Compared:
    """Everything that stands outside the layers of one stack; with the last one, the heads. Keys are those of the state dict."""
    found = Compared()
    wiring = embedding_wiring(before.embedding, after.embedding)
    if wiring.kind in ("other", "reordered"):
        found.facts.append(_wired("embed", formula(before.embedding.value), formula(after.embedding.value), wiring, "embedding/value"))
    found.names += [("embed", a, b) for a, b in wiring.parts.items() if a != b]
    renamed = {**wiring.parts, **_heads(old, new), "final_norm": "final_norm"}
    _parts(found, _outside(old, before), _outside(new, after), renamed)
    shared = ({stack.prefix + key: held for key, held in stack.shared().items()} for stack in (before, after))
    was, now = shared
    _schemes(found, was, now, {key: after.prefix + key.removeprefix(before.prefix) for key in was})
    if (before.final_norm is None) != (after.final_norm is None):
        found.facts += component_facts(before.final_norm, after.final_norm, "final_norm", "final_norm")
    if before is old.stack:
        _untied(found, *(f"{model.tables[stack.name]}.weight" for model, stack in ((old, before), (new, after))))
        _shortened(found, old, new)
    return found


def parts_of(layer: Layer, dims: Dims) -> list[Part]:
    return [_part(i, dims, f"instances/{n}/component") for n, i in enumerate(layer.instances)]


def _outside(model: Model, stack: Stack) -> list[Part]:
    tables = {TOKENS: model.tables[stack.name]}
    found = []
    for n, i in enumerate(stack.embedding.instances):
        part = _part(i, stack.dims, f"embedding/instances/{n}/component")
        found.append(replace(part, key=tables.get(part.key, stack.prefix + part.key)))
    if stack.final_norm is not None:
        found.append(Part("final_norm", f"{stack.prefix}final_norm", stack.final_norm, stack.dims, "final_norm"))
    heads = model.heads if stack is model.stack else ()
    return found + [_part(i, stack.dims, f"/heads/{n}/component") for n, i in enumerate(heads)]


def _part(instance: Instance, dims: Dims, pointer: str) -> Part:
    return Part(instance.path, instance.key, instance.component, instance.dims(dims), pointer)


def _wired(place: str, old: str, new: str, wiring: Wiring, pointer: str) -> Fact:
    if wiring.kind == "reordered":
        return Fact(place, (), old, new, pointer, Level.UNCHANGED, "the terms of a sum in another order: the same but for rounding")
    return Fact(place, (), old, new, pointer)


def _differing(old: list[str], new: list[str]) -> tuple[str, str]:
    """The statements that differ, or all of them where they cannot be set side by side."""
    if len(old) == len(new):
        pairs = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
        old, new = [a for a, _ in pairs], [b for _, b in pairs]
    return "; ".join(old), "; ".join(new)


def _parts(found: Compared, old: list[Part], new: list[Part], renamed: Mapping[str, str]) -> None:
    """Facts and tensors of the parts that both sides have under `renamed`, and the tensors of the others."""
    after = {part.path: part for part in new}
    keys = {part.key: after[renamed[part.path]].key for part in old if renamed.get(part.path) in after}
    tensors = compare_parts(
        {p.key: p.component.parameters(p.dims) for p in old}, {p.key: p.component.parameters(p.dims) for p in new}, keys
    )
    for part in old:
        other = after.get(renamed.get(part.path, ""))
        if other is None:
            continue
        facts = [replace(f, old_place=part.path) for f in component_facts(part.component, other.component, other.path, other.pointer)]
        fills = {neutral(fact) for fact in facts}
        own = [t for t in tensors if t.part in (part.key, other.key) and t.change not in ("same", "renamed")]
        if facts and None not in fills and all(t.change == "added" and t.init in fills for t in own):
            facts = [replace(f, level=Level.CONVERTIBLE, note=f"nothing changes while the new values are {neutral(f)}") for f in facts]
            tensors = [replace(t, fill=t.init) if t in own else t for t in tensors]
        found.facts += facts
    found.tensors += tensors


def _schemes(
    found: Compared, old: Mapping[str, Sequence[Parameter]], new: Mapping[str, Sequence[Parameter]], keys: Mapping[str, str]
) -> None:
    """The tensors of position schemes."""
    found.tensors += compare_parts(old, new, {a: b for a, b in keys.items() if a in old and b in new})


def _heads(old: Model, new: Model) -> dict[str, str]:
    """The head of the same kind, or the only one of each side."""
    if len(old.heads) == len(new.heads) == 1:
        return {"head": "head"}
    kinds = {head.component.kind: head.path for head in new.heads}
    return {head.path: kinds[head.component.kind] for head in old.heads if head.component.kind in kinds}


def _untied(found: Compared, old_table: str, new_table: str) -> None:
    """A head that gets a matrix of its own computes what it did while that is a copy of the token table."""
    facts = [f for f in found.facts if f.place == "head"]
    table = any((t.old, t.new, t.change) == (old_table, new_table, "same") for t in found.tensors)
    if [f.fields for f in facts] != [("tied",)]:
        return
    if facts[0].old is True and table:
        found.facts = [replace(f, level=Level.CONVERTIBLE) if f in facts else f for f in found.facts]
        found.tensors = [replace(t, fill=new_table) if t.new == "head.weight" else t for t in found.tensors]
    elif facts[0].new is True:
        note = "the head reads the token table: the same numbers only where head.weight is equal to it"
        found.facts = [replace(f, note=note) if f in facts else f for f in found.facts]


def _shortened(found: Compared, old: Model, new: Model) -> None:
    """A head that only hands on what the old one handed on as well: its tensors are dropped."""
    before, after = (tuple(model.outputs) for model in (old, new))
    lost = [t for t in found.tensors if t.part == "head" and t.change == "removed"]
    if lost and after == ("last_hidden_state",) and set(after) <= set(before):
        note = "the outputs that are left are the same"
        found.facts = [replace(f, level=Level.CONVERTIBLE, note=note) if f.place == "head" else f for f in found.facts]
        found.tensors = [replace(t, fill="drop") if t in lost else t for t in found.tensors]
