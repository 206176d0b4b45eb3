"""Writes a checkpoint in another layout, bit for bit: published to specc's own, and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specc.diagnostics.finding import SpecError, fail
from specc.ir.model import Model
from specc.ir.weights import WeightMap, spellings
from specc.weights.checkpoint import OWN, PUBLISHED, Checkpoint
from specc.weights.mapping import place
from specc.weights.rules import Candidate, candidates
from specc.weights.stored import Stored, swapped
from specc.weights.write import Chunks, Progress, copied, write


def to_own(model: Model, checkpoint: Checkpoint, out: Path, progress: Progress | None = None) -> Path:
    """weights.safetensors in the folder `out`: every parameter by its own name, in the type it has."""
    stored = place(model, checkpoint).stored
    entries = [(key, s.tensor.dtype, s.shape) for key, s in stored.items()]
    return write(out, OWN, entries, lambda key: _bytes(stored[key]), progress)


def to_published(model: Model, checkpoint: Checkpoint, out: Path, map_name: str | None = None, progress: Progress | None = None) -> Path:
    """model.safetensors in the folder `out`: the names of a weights section, each time the first root and alternative."""
    weight_map = _map(model, map_name)
    stored = place(model, checkpoint).stored
    ways = _ways(weight_map, model, stored)
    entries, rows = [], {}
    for name, slices in ways.items():
        way, keys = slices[0]
        if way.gathered:
            held = stored[keys[0]]
            entries += [(name.replace("{r}", str(row)), held.tensor.dtype, held.shape[1:]) for row in range(held.shape[0])]
            rows |= {name.replace("{r}", str(row)): (held, row) for row in range(held.shape[0])}
            continue
        shape = _shape(way, [stored[key] for key in keys])
        if way.stack is not None:
            shape = (shape[0] * len(slices), *shape[1:]) if way.stack.flat else (len(slices), *shape)
        if way.batched:
            shape = (1, *shape)
        if way.row:
            shape = shape[1:]
        entries.append((name, stored[keys[0]].tensor.dtype, shape))

    def chunks(name: str) -> Chunks:
        if name in rows:
            return _row_bytes(*rows[name])
        return (c for way, keys in ways[name] for c in _joined(way, [stored[key] for key in keys]))

    return write(out, PUBLISHED, entries, chunks, progress)


def _map(model: Model, name: str | None) -> WeightMap:
    for weight_map in model.weights:
        if name in (None, weight_map.name):
            return weight_map
    known = ", ".join(weight_map.name for weight_map in model.weights)
    asked = f"no `weights {name}`" if name else "no `weights` section"
    raise fail("WGT017", f"model `{model.name}` has {asked}", help=f"it has {known}" if known else "write one in the spec")


def _ways(weight_map: WeightMap, model: Model, stored: dict[str, Stored]) -> dict[str, list[tuple[Candidate, list[str]]]]:
    """For each published name how it is stored, and the keys that it holds in order: one entry, or one per stacked slice."""
    root, found = weight_map.root[0], {}
    for key, ways in candidates(weight_map, model.parameters()).items():
        if key not in stored:
            continue
        if not ways:
            raise _cannot(weight_map, f"no rule names `{key}`", "add a rule for it")
        way, name = ways[0], spellings(ways[0].names[0], root)[0]
        keys = [own for _, own in way.parts] or [key]
        if any(keys == known for _, known in found.get(name, ())):
            continue  # another part of the same fused tensor
        if name in found and way.stack is None:
            raise _cannot(weight_map, f"`{found[name][0][1][0]}` and `{key}` would both be `{name}`", "give each its own name")
        found.setdefault(name, []).append((way, keys))
        if lacking := [own for own in keys if own not in stored]:
            raise _cannot(weight_map, f"`{name}` needs `{lacking[0]}`, which the checkpoint lacks", "list only parts that it has")
        if len(kinds := {stored[own].tensor.dtype for own in keys}) > 1:
            raise _cannot(weight_map, f"the parts of `{name}` are of different types, {', '.join(sorted(kinds))}", "make them one type")
    return found


def _cannot(weight_map: WeightMap, problem: str, right: str) -> SpecError:
    return fail("WGT018", f"the checkpoint cannot be written as `weights {weight_map.name}`: {problem}", help=right)


def _shape(way: Candidate, held: list[Stored]) -> tuple[int, ...]:
    shape = (sum(s.shape[0] for s in held), *held[0].shape[1:]) if way.parts else held[0].shape
    return swapped(shape) if way.transposed else shape


def _bytes(stored: Stored) -> Chunks:
    """The parameter's bytes in its own layout."""
    if (found := stored.byte_range()) is not None:
        return copied(stored.tensor.file, *found)
    return _array_bytes(stored)


def _array_bytes(stored: Stored) -> Iterator[Any]:
    import numpy as np

    from specc.weights.arrays import load

    yield np.ascontiguousarray(load(stored))


def _row_bytes(stored: Stored, row: int) -> Iterator[Any]:
    import numpy as np

    from specc.weights.arrays import load

    yield np.ascontiguousarray(load(stored)[row])


def _joined(way: Candidate, held: list[Stored]) -> Chunks:
    """The bytes of a published tensor."""
    if not way.parts and not way.transposed:
        return _bytes(held[0])
    if way.groups == 1 and (not way.transposed or len(held[0].shape) < 2):
        return (chunk for stored in held for chunk in _bytes(stored))
    return _array_joined(way, held)


def _array_joined(way: Candidate, held: list[Stored]) -> Iterator[Any]:
    import numpy as np

    from specc.weights.arrays import joined, load

    array = load(held[0])
    if way.parts:
        order = tuple(name for name, _ in way.parts)
        array = joined(dict(zip(order, map(load, held), strict=True)), order, way.groups or held[0].shape[0])
    if way.transposed and array.ndim > 1:
        array = np.swapaxes(array, -1, -2)
    yield np.ascontiguousarray(array)
