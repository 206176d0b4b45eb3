"""What a model binds and nothing uses."""

from __future__ import annotations

from collections.abc import Iterator

from specc.diagnostics.finding import closest
from specc.resolve.parts import KNOWN, Parts
from specc.resolve.reach import mentions
from specc.syntax import tree

MISSPELT = 0.75  # how like a field's name another one is that is taken for it: `nrom` is, `note` is not


def check_unused(parts: Parts) -> None:
    """What is bound and has no effect. After errors only what looks misspelt: the rest may be used where they struck."""
    if parts.definition.parameters:
        return  # not every config of a family uses every field
    used = parts.scope.used | _mentioned_later(parts)
    if failed := bool(parts.report.errors):
        used |= set().union(*(mentions(f.value) for f in _all_fields(parts)))
    for name, statement in parts.body.fields.items():
        if name in ("sample", "ignore"):
            continue
        label = f"`{name}`"
        if name.partition(".")[0] in KNOWN:
            if "." in name and name not in used and not failed:
                parts.report.error("LNT002", f"{label} is set, and no block calls it", statement.path.span)
        elif name not in used:
            meant = closest(name, KNOWN, MISSPELT)
            if meant and len(name) > 2:
                parts.report.error("NAM013", f"a model has no field {label}", statement.path.span, f"did you mean `{meant}`?")
            elif not failed:
                parts.report.warn("LNT001", f"{label} is bound and never used", statement.path.span)


def _mentioned_later(parts: Parts) -> set[str]:
    """What `checks` and `weights` lead to: they are looked at when the model is complete."""
    values = [side for c in parts.body.checks for side in (c.fact, c.value)] + [f.value for w in parts.body.weights.values() for f in w.fields]
    found = waiting = set().union(*map(mentions, values))
    while waiting:
        waiting = set().union(*(mentions(parts.body.fields[n].value) for n in waiting if n in parts.body.fields)) - found
        found = found | waiting
    return found


def _all_fields(parts: Parts) -> Iterator[tree.Field]:
    yield from parts.body.fields.values()
    for section in (*parts.body.layers.values(), *parts.body.stacks.values()):
        yield from (s for s in section.body if isinstance(s, tree.Field))
    for block in parts.body.blocks.values():
        yield from block.fields
