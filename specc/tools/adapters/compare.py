"""Two adapters of one name to a verdict with its reasons."""

from __future__ import annotations

from specc.ir.adapter import Adapter
from specc.ir.adapter_print import fingerprint_adapter
from specc.ir.fingerprint import fingerprint
from specc.tools.diff.reason import Difference, Level, Reason
from specc.tools.spell import spell


def compare(old: Adapter, new: Adapter) -> Difference:
    """What a change means for people who hold the adapter's weights."""
    found = Difference(old.name, new.name)
    if fingerprint(old.base) != fingerprint(new.base):
        found.reasons.append(Reason("numerics", "changed", "model", old.base.name, new.base.name, Level.COMPUTES, note="`specc diff` on the model says how"))
    for number in range(max(len(old.methods), len(new.methods))):
        before, after = (a.methods[number] if number < len(a.methods) else None for a in (old, new))
        found.reasons += _method(f"methods[{number}]", before, after)
    found.reasons += _tensors(old, new)
    if (old.name, old.base.name) != (new.name, new.base.name):
        found.reasons.append(Reason("names", "renamed", "name", f"{old.name} for {old.base.name}", f"{new.name} for {new.base.name}", Level.RENAMED))
    found.level = max((r.level for r in found.reasons if r.level is not None), default=Level.IDENTICAL)
    if found.level < Level.COMPUTES and fingerprint_adapter(old) != fingerprint_adapter(new):
        raise AssertionError("the fingerprints differ, and no reason says why")
    return found


def _method(path: str, before, after) -> list[Reason]:
    if before is None or after is None:
        change = "added" if before is None else "removed"
        return [Reason("numerics", change, path, before and spell(before), after and spell(after), Level.COMPUTES)]
    if type(before) is not type(after):
        return [Reason("numerics", "changed", path, spell(before), spell(after), Level.COMPUTES)]
    found = []
    for name in type(before).model_fields:
        was, now = getattr(before, name), getattr(after, name)
        if was != now:
            training = type(before).role(name) == "training"
            category, level = ("training", Level.UNCHANGED) if training else ("numerics", Level.COMPUTES)
            found.append(Reason(category, "changed", f"{path}.{name}", spell(was), spell(now), level))
    return found


def _tensors(old: Adapter, new: Adapter) -> list[Reason]:
    """What the files of the adapter hold."""
    before, after = ({name: p.shape for name, p in a.parameters().items()} for a in (old, new))
    found = [Reason("state dict", "removed", name, spell(before[name]), None, Level.BREAKING) for name in before if name not in after]
    found += [Reason("state dict", "added", name, None, spell(after[name]), Level.BREAKING) for name in after if name not in before]
    shared = [name for name in before if name in after and before[name] != after[name]]
    return found + [Reason("state dict", "reshaped", name, spell(before[name]), spell(after[name]), Level.BREAKING) for name in shared]
