"""Published layouts: whether a checkpoint that the old weights maps read is read by the new ones, and to the same values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from specc.ir.model import Model
from specc.ir.weights import WeightMap
from specc.tools.diff.reason import Level, Reason
from specc.tools.diff.tensors import NUMBER, joined
from specc.weights.rules import Candidate, candidates

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """How a parameter is read: the tensor's names, and which part of it in which layout."""

    names: tuple[str, ...]
    layout: tuple
    text: str


def published(old: Model, new: Model, keys: Mapping[str, str], where: Mapping[str, str | None]) -> Iterator[Reason]:
    """Reasons of every weights map. `keys`: the new key of each parameter that both sides have in one shape."""
    olds, news = {m.name: m for m in old.weights}, {m.name: m for m in new.weights}
    pairs = [(name, name) for name in olds if name in news]
    gone, come = [n for n in olds if n not in news], [n for n in news if n not in olds]
    if len(gone) == len(come) == 1:
        yield Reason("names", "renamed", f"weights {gone[0]}", gone[0], come[0], Level.RENAMED, "/weights")
        pairs, gone, come = [*pairs, (gone[0], come[0])], [], []
    for name in gone:
        note = "convert with the old spec: specc weights convert --to own"
        yield Reason("published", "removed", f"weights {name}", name, None, Level.CONVERTIBLE, "/weights", note=note)
    for name in come:
        yield Reason("published", "added", f"weights {name}", None, name, Level.UNCHANGED, "/weights")
    for name, other in pairs:
        for reason in _map(olds[name], news[other], old, new, keys):
            yield replace(reason, old_at=where.get("old"), new_at=where.get("new"))


def _map(old: WeightMap, new: WeightMap, old_model: Model, new_model: Model, keys: Mapping[str, str]) -> Iterator[Reason]:
    if old == new and all(a == b for a, b in keys.items()):
        return
    number = [m.name for m in new_model.weights].index(new.name)
    for field in ("root", "ignore"):
        yield from _listed(field, set(getattr(old, field)) - {""}, set(getattr(new, field)) - {""}, new.name, number)
    was, now = candidates(old, old_model.parameters()), candidates(new, new_model.parameters())
    shapes = {key: parameter.shape for key, parameter in old_model.parameters().items()}
    readers = {name: key for key in keys for c in was[key] for name in c.names}
    groups: dict[tuple, list[tuple[str, ...]]] = {}
    for key, other in keys.items():
        before, after = _reading(was[key], shapes[key]), _reading(now[other], shapes[key])
        if before is None or before == after:
            continue
        level, note = _judged(key, before, after, shapes, readers)
        texts = (other, before.text, after.text if after else "", note)
        groups.setdefault((level, *(NUMBER.sub("#", text) for text in texts)), []).append(texts)
    for (level, *_), members in groups.items():
        path, before, after, note = (joined(texts) for texts in zip(*members, strict=True))
        path = f"weights {new.name}: {path}"
        yield Reason("published", "changed", path, before, after or None, level, f"/weights/{number}/rules", note=note or "")


def _listed(field: str, old: set[str], new: set[str], name: str, number: int) -> Iterator[Reason]:
    """root and ignore: an entry that goes makes checkpoints be refused, one that comes does not."""
    if old == new:
        return
    lost, note = old - new, {"root": "names under this beginning are no longer found", "ignore": "a checkpoint that holds these is refused"}
    level = Level.CONVERTIBLE if lost else Level.UNCHANGED
    texts = [", ".join(f'"{entry}"' for entry in sorted(entries)) or "nothing" for entries in (old, new)]
    yield Reason(
        "published", "changed", f"weights {name}: {field}", *texts, level, f"/weights/{number}/{field}", note=note[field] if lost else ""
    )


def _reading(ways: list[Candidate], shape: Shape) -> Reading | None:
    """None where no rule names the parameter."""
    if not ways:
        return None
    names = tuple(dict.fromkeys(name for way in ways for name in way.names))
    first = ways[0]
    transposed = first.transposed and len(shape) > 1
    order = tuple(part for part, _ in first.parts)
    text = " | ".join(f'"{name}"' for name in names)
    text = f"transpose({text})" if transposed else text
    if first.part is not None:
        text = f"{first.part} of {'interleaved' if first.groups == 0 else 'fused'}({text}, order: [{', '.join(order)}]"
        text += f", groups: {first.groups})" if first.groups > 1 else ")"
    if first.batched:
        text += ", with an axis of one in front"
    if first.gathered:
        text += ", row by row"
    if first.row:
        text += ", as a vector"
    if first.stack is not None:
        text += f", slice {first.stack.number} of {first.stack.count}{' (flat)' if first.stack.flat else ''}"
    return Reading(names, (transposed, first.part, order, first.groups, first.stack, first.batched, first.row, first.gathered), text)


def _judged(key: str, before: Reading, after: Reading | None, shapes: Mapping[str, Shape], readers: Mapping[str, str]) -> tuple[Level, str]:
    """What a checkpoint in the old layout meets."""
    if after is None:
        return Level.CONVERTIBLE, "no rule names it any more"
    common, shape = set(before.names) & set(after.names), shapes[key]
    if before.layout == after.layout:
        if set(before.names) <= set(after.names):
            return Level.UNCHANGED, "the old names are still read"
        if common:
            return Level.CONVERTIBLE, "a name is no longer read"
        other = readers.get(after.names[0])
        if other is not None and shapes[other] == shape:
            return Level.COMPUTES, f"reads the tensor that was `{other}`"
        return Level.CONVERTIBLE, "rename the tensor"
    if not common:
        return Level.CONVERTIBLE, "rename the tensor and lay it out anew"
    (turned, part, order, _, stack), (turned_now, part_now, order_now, _, stack_now) = before.layout[:5], after.layout[:5]
    fits = (part is None) == (part_now is None) and set(order) == set(order_now) and (stack is None) == (stack_now is None)
    if fits and (turned == turned_now or len(set(shape)) == 1):
        return Level.COMPUTES, "the same tensor, and other numbers of it"
    return Level.CONVERTIBLE, "lay the tensor out anew" if turned == turned_now else "transpose the tensor"
