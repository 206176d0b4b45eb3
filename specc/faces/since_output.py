"""`specc verify --since REV`: the proof of every spec that changed, those proven before left out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specc.diagnostics.finding import Diagnostic, Report, SpecError
from specc.diagnostics.formats import Group, render
from specc.faces.loading import resolved_adapters, resolved_models
from specc.ir.adapter_print import fingerprint_adapter
from specc.ir.fingerprint import fingerprint
from specc.resolve.program import load
from specc.tools.lint.discover import discover
from specc.tools.settings import settings_for
from specc.tools.verify.since import FOLDER, Cache, changed, root_of


@dataclass(slots=True)
class Outcome:
    """One model or adapter: its proof, or none where it was proven before."""

    model: str
    file: str
    fingerprint: str
    proof: Any

    @property
    def ok(self) -> bool:
        return self.proof is None or self.proof.ok


def run(options: Any, as_text: Callable[[Any], str], as_data: Callable[[Any], dict]) -> int:
    """-> 1 where a proof failed or a spec has errors."""
    place = Path(options.spec or ".")
    folder = place if place.is_dir() else place.parent
    specs = changed(options.since, folder, discover([str(place)], settings_for))
    cache = Cache(Path(options.cache) if options.cache else root_of(folder) / FOLDER, options.seed)
    outcomes: list[Outcome] = []
    groups: list[Group] = []
    for path in specs:
        wrong: list[Diagnostic] = []
        try:
            program = load(path)
            for resolved in resolved_models(program, Report()):
                outcomes.append(_one(resolved.model, path, fingerprint(resolved.model), cache, _model))
            for laid in resolved_adapters(program, Report()):
                outcomes.append(_one(laid.adapter, path, fingerprint_adapter(laid.adapter), cache, _adapter))
        except SpecError as error:
            wrong += error.diagnostics
        groups.append(Group(str(path), tuple(wrong)))
    _print(options, outcomes, groups, as_text, as_data)
    return 0 if all(o.ok for o in outcomes) and not any(g.found for g in groups) else 1


def _one(subject: Any, path: Path, key: str, cache: Cache, prove: Callable[[Any, int], Any]) -> Outcome:
    """subject: a model or an adapter; key: its fingerprint."""
    if cache.holds(key):
        return Outcome(subject.name, str(path), key, None)
    proof = prove(subject, cache.seed)
    if proof.ok:
        cache.keep(key, subject.name)
    return Outcome(subject.name, str(path), key, proof)


def _model(model: Any, seed: int) -> Any:
    from specc.tools.verify.run import verify_miniature

    return verify_miniature(model, seed)


def _adapter(adapter: Any, seed: int) -> Any:
    from specc.tools.adapters.verify import verify_adapter

    return verify_adapter(adapter, seed)


def _print(options: Any, outcomes: list[Outcome], groups: list[Group], as_text: Callable, as_data: Callable) -> None:
    if options.format == "json":
        records = [
            {"model": o.model, "file": o.file, "fingerprint": o.fingerprint, "ok": o.ok, "cached": o.proof is None}
            | {"proof": o.proof and as_data(o.proof)}
            for o in outcomes
        ]
        print(json.dumps({"models": records, "findings": json.loads(render("json", groups))}, indent=2, allow_nan=False))
        return
    if any(group.found for group in groups):
        print(render(options.format, groups), file=sys.stderr if options.format == "text" else sys.stdout)
    width = max((len(o.model) for o in outcomes), default=0)
    for outcome in outcomes:
        said = "ok, proven before" if outcome.proof is None else "ok" if outcome.ok else "WRONG"
        print(f"{outcome.model:{width}}  {said}  ({outcome.file})")
        if not outcome.ok:
            if options.format == "github":
                print(f"::error file={outcome.file},title=specc verify::{outcome.model}: the back ends do not compute the same")
            print("\n".join(f"  {line}" for line in as_text(outcome.proof).splitlines()))
    if not groups:
        print(f"no spec changed since {options.since}")
