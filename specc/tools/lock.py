"""specc.lock: what every spec of a project is, so that a change that nobody meant does not pass unseen.

For each model of each file the lock holds the architecture's fingerprint, the parameters, fingerprints of the state dict's
layout and of the published ones, and the facts in words, which a review reads and a finding quotes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specc.diagnostics.finding import fail
from specc.ir.adapter import Adapter
from specc.ir.adapter_print import fingerprint_adapter
from specc.ir.fingerprint import VERSION, fingerprint
from specc.ir.model import Model, Stack
from specc.resolve.model import Resolved
from specc.source import Span
from specc.tools.diff.files import Side, open_file
from specc.tools.spell import formula, ranges, spell, statements

NAME = "specc.lock"
FORMAT = 1  # of the file
Entry = dict[str, Any]


@dataclass(slots=True)
class Lock:
    """The file's content: `roots` are the paths that were locked, `specs` the models of every file; all relative to its folder."""

    folder: Path
    roots: list[str] = field(default_factory=list)
    specs: dict[str, dict[str, Entry]] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.folder / NAME

    def text(self) -> str:
        content = {"format": FORMAT, "fingerprint": VERSION, "roots": sorted(self.roots), "specs": self.specs}
        return json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    def key(self, path: Path) -> str:
        return Path(os.path.relpath(path.resolve(), self.folder)).as_posix()

    def covers(self, roots: Iterable[str], key: str) -> bool:
        """Whether a file is one of these paths, or below one."""
        return any(root in (".", key) or key.startswith(f"{root}/") for root in roots)


def folder_for(paths: list[Path]) -> Path:
    """Where the lock of these paths lies: where one is, at or above them; else beside pyproject.toml; else at their root."""
    common = Path(os.path.commonpath([p.resolve() if p.is_dir() else p.resolve().parent for p in paths]))
    above: list[Path] = []
    for folder in (common, *common.parents):
        above.append(folder)
        if (folder / ".git").exists():
            break
    for name in (NAME, "pyproject.toml"):
        found = next((folder for folder in above if (folder / name).is_file()), None)
        if found is not None:
            return found
    return common


def read(folder: Path) -> Lock | None:
    """The lock of a folder, None where there is none. Raises SpecError where it cannot be used."""
    path, again = folder / NAME, "`specc lock` writes it anew"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise fail("LCK001", f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is no JSON'}", None, again) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT or content.get("fingerprint") != VERSION:
        raise fail("LCK001", f"{path} was written by another version of specc", None, again)
    specs, roots = content.get("specs"), content.get("roots")
    entries = (
        [e for models in specs.values() for e in (models.values() if isinstance(models, dict) else [None])]
        if isinstance(specs, dict)
        else [None]
    )
    if not isinstance(roots, list) or not all(isinstance(e, dict) and set(e) == set(_KEYS) for e in entries):
        raise fail("LCK001", f"{path} is no lock of specc", None, again)
    return Lock(folder, roots, specs)


# ---- what a model is


_KEYS = ("architecture", "facts", "layout", "parameters", "weights")


def entry(model: Model) -> Entry:
    parameters = model.parameters()
    layout = [[key, list(p.shape), p.role] for key, p in sorted(parameters.items())]
    return {
        "architecture": fingerprint(model),
        "facts": facts(model),
        "layout": _hash(layout),
        "parameters": sum(p.size for p in parameters.values() if p.role != "fixed"),
        "weights": {m.name: _hash(m.model_dump(mode="json", exclude={"name"})) for m in model.weights},
    }


def _hash(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def facts(model: Model) -> dict[str, str]:
    """The architecture in words, layers that agree on a fact together."""
    found: dict[str, str] = {}
    for stack in model.stacks:
        found |= {f"{stack.prefix}{name}": text for name, text in _of_stack(stack).items()}
    if model.encoder is not None:
        found["shared_tokens"] = spell(model.shared_tokens)
    return found | {head.path: spell(head.component, True) for head in model.heads}


def _of_stack(stack: Stack) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in stack.dims:
        found[name] = spell(value)
    found["embed"] = formula(stack.embedding.value)
    found |= {i.path: spell(i.component, True) for i in stack.embedding.instances}
    said: dict[tuple[str, str], list[int]] = {}
    for number, layer in enumerate(stack.layers):
        parts = {"position": spell(layer.position, True), "mask": spell(layer.mask, True), "block": "; ".join(statements(layer.block))}
        for path, text in (parts | {i.path: spell(i.component, True) for i in layer.instances}).items():
            said.setdefault((path, text), []).append(number)
    for (path, text), numbers in said.items():
        found[f"layers[{'i' if len(numbers) == len(stack.layers) else ranges(numbers)}].{path}"] = text
    if stack.sets:
        found["sets of weights"] = ", ".join(map(str, stack.sets))
    found["final_norm"] = spell(stack.final_norm, True)
    return found


def entry_of_adapter(adapter: Adapter) -> Entry:
    """The same for an adapter, whose parameters are those that it trains."""
    parameters = adapter.parameters()
    said = {f"methods[{number}]": spell(method, True) for number, method in enumerate(adapter.methods)}
    return {
        "architecture": fingerprint_adapter(adapter),
        "facts": {"model": adapter.base.name} | said,
        "layout": _hash([[key, list(p.shape), p.role] for key, p in sorted(parameters.items())]),
        "parameters": sum(p.size for p in parameters.values()),
        "weights": {},
    }


def entries(path: Path) -> dict[str, tuple[Span, Entry]]:
    """Every model and adapter of a file, with the place of its name. Raises SpecError."""
    side: Side = open_file(path)
    found = {name: (r.definition.name_span, entry(r.model)) for name, r in models(path).items()}
    return found | {name: (item.name_span, entry_of_adapter(side.adapter(name))) for name, item in side.program.adapters.items()}


def models(path: Path) -> dict[str, Resolved]:
    """Every model of a file; a family by its sample config. Raises SpecError."""
    side: Side = open_file(path)
    return {name: side.model(name, side.sample(name)) for name in side.program.own}


def locked(paths: list[Path], files: list[Path], old: Lock | None, folder: Path) -> Lock:
    """The lock with these files as they are now. What it says of other files stays. Raises SpecError."""
    new = Lock(folder)
    roots = [new.key(path) for path in paths]
    if old is not None:
        new.roots = [root for root in old.roots if not new.covers(roots, root)]
        new.specs = {key: found for key, found in old.specs.items() if not new.covers(roots, key)}
    new.roots += [root for root in dict.fromkeys(roots) if not new.covers(new.roots, root)]
    for file in files:
        if found := entries(file):
            new.specs[new.key(file)] = {name: made for name, (_, made) in found.items()}
    return new
