"""A comparison as text for a terminal, as markdown for a pull request, and as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from specc.tools.diff.reason import CATEGORIES, MEANINGS, Difference, Level, Reason, Rule

MOST = 20  # reasons of one category that are printed; the data holds all of them
WIDEST = 44  # columns that a path is padded to


def text(found: list[Difference]) -> str:
    """One model after the other, worst news first in each."""
    return "\n\n".join("\n".join(_model(difference)) for difference in found)


def _model(found: Difference) -> list[str]:
    lines = [f"{found.name}: {found.verdict}{' (by the sample config)' if found.sample else ''}"]
    if meaning := _meaning(found):
        lines.append(meaning)
    for category, reasons in _by_category(found):
        lines += ["", CATEGORIES[category]]
        width = min(WIDEST, max(len(r.path) for r in reasons[:MOST]))
        lines += [f"  {r.path:{width}}  {change(r)}{_note(r)}{_places(r)}" for r in reasons[:MOST]]
        if len(reasons) > MOST:
            lines.append(f"  ... and {len(reasons) - MOST} more (--format json has them all)")
    if found.rules:
        lines += ["", "conversion", *(f"  {_rule(rule)}" for rule in found.rules)]
    if found.level >= Level.COMPUTES and (same := _same(found)):
        lines += ["", f"the same as before: {', '.join(same)}"]
    return lines


def _meaning(found: Difference) -> str:
    if found.old_name is None or found.new_name is None:
        return ""
    if found.level == Level.CONVERTIBLE and not found.rules:
        return "The state dict is the same; checkpoints in the published layout no longer load as they are."
    return MEANINGS[found.level]


def _by_category(found: Difference) -> list[tuple[str, list[Reason]]]:
    groups = [(name, [r for r in found.reasons if r.category == name]) for name in CATEGORIES]
    return [(name, reasons) for name, reasons in groups if reasons]


def _same(found: Difference) -> list[str]:
    said = {r.category for r in found.reasons}
    if found.old_name is None or found.new_name is None:
        return []
    return [CATEGORIES[name] for name in ("numerics", "state dict", "interface", "cache", "counts") if name not in said]


def change(reason: Reason) -> str:
    if reason.change == "added":
        return f"added: {reason.new}"
    if reason.change == "removed":
        return f"removed: {reason.old}"
    if reason.path == reason.old:
        return f"renamed: {reason.new}"
    return "changed" if reason.old is None and reason.new is None else f"{reason.old or 'nothing'} -> {reason.new or 'nothing'}"


def _note(reason: Reason) -> str:
    return f"  {reason.note}" if reason.note else ""


def _places(reason: Reason) -> str:
    places = [place for place in (reason.old_at, reason.new_at) if place is not None]
    return f"  ({', '.join(dict.fromkeys(places))})" if places else ""


def _rule(rule: Rule) -> str:
    if rule.op in ("rename", "copy"):
        return f"{rule.op:6}  {rule.source} -> {rule.target}"
    return f"drop    {rule.target}" if rule.op == "drop" else f"fill    {rule.target} with {rule.op}"


def markdown(found: list[Difference], old: str, new: str) -> str:
    """A comment for a pull request: a heading, a verdict line, a table of reasons."""
    lines = [f"## specc diff: {_code(old)} to {_code(new)}", ""]
    for difference in found:
        lines += [f"### {_code(difference.name)}: {difference.verdict}", ""]
        if meaning := _meaning(difference):
            lines += [meaning, ""]
        rows = [(category, r) for category, reasons in _by_category(difference) for r in reasons[:MOST]]
        if rows:
            lines += ["| | what | before | after | where |", "|---|---|---|---|---|"]
            lines += [_row(category, reason) for category, reason in rows]
            hidden = len(difference.reasons) - len(rows)
            lines += ["", *([f"... and {hidden} more.", ""] if hidden else [])]
        if difference.rules:
            lines += ["Conversion:", "", *(f"- {_code(_rule(rule))}" for rule in difference.rules), ""]
    return "\n".join(lines).rstrip()


def _row(category: str, reason: Reason) -> str:
    places = " ".join(_code(place) for place in dict.fromkeys((reason.old_at, reason.new_at)) if place)
    old = None if reason.old == reason.path else reason.old
    what = _code(reason.path) + (f" ({_cell(reason.note)})" if reason.note else "")
    return f"| {CATEGORIES[category]} | {what} | {_code(old)} | {_code(reason.new)} | {places} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _code(text: str | None) -> str:
    return "" if text is None else f"`{_cell(text).replace('`', chr(39))}`"


def data(found: list[Difference], old: str, new: str) -> dict[str, Any]:
    """Everything, for programs."""
    worst = max((d.level for d in found), default=Level.IDENTICAL)
    return {"old": old, "new": new, "level": worst.name.lower(), "models": [_record(d) for d in found]}


def _record(found: Difference) -> dict[str, Any]:
    return {
        "model": found.new_name or found.old_name,
        "old": found.old_name,
        "new": found.new_name,
        "level": found.level.name.lower(),
        "verdict": found.verdict,
        "reasons": list(_reasons(found.reasons)),
        "conversion": [{"op": r.op, "target": r.target, "source": r.source} for r in found.rules],
    }


def _reasons(reasons: Iterable[Reason]) -> Iterable[dict[str, Any]]:
    for r in reasons:
        level = None if r.level is None else r.level.name.lower()
        place = {"path": r.path, "pointer": r.pointer, "old_at": r.old_at, "new_at": r.new_at}
        yield {"category": r.category, "change": r.change, "level": level, "old": r.old, "new": r.new, "note": r.note} | place
