"""The import itself: config and family to a concrete spec, held against the family it came from."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specc.diagnostics.finding import Diagnostic, Report, SpecError, fail
from specc.resolve.model import Resolved, resolve
from specc.resolve.program import load_source
from specc.resolve.values import Record
from specc.source import Source
from specc.syntax.format import format_text
from specc.syntax.printer import print_file
from specc.tools.importer.concrete import concrete_file
from specc.tools.importer.config import model_type, read_config
from specc.tools.importer.families import family_of, fields_read_by_any
from specc.tools.importer.fields import ALWAYS_NAMED, MEANINGLESS, NEUTRAL, TRAINING
from specc.tools.importer.missing import missing_fields
from specc.weights.checkpoint import open_checkpoint

RESERVED = frozenset({"config", "false", "match", "none", "repeat", "require", "then", "true"})  # of the language; Python's own come on top


@dataclass(frozen=True, slots=True)
class Imported:
    """The spec's text, the name of its model, and what was not taken over."""

    text: str
    name: str
    warnings: tuple[Diagnostic, ...]


def import_model(path: Path, name: str | None = None, allow: frozenset[str] = frozenset()) -> Imported:
    """A config file, or a folder with config.json and perhaps weights, to a concrete spec. Raises SpecError."""
    file, values = read_config(path)
    kind = model_type(values, file)
    program, family = family_of(kind)
    report, config = Report(), Record(values)
    tensors = _tensors(path)
    try:
        resolved = resolve(family, program, report, config, tensors)
    except SpecError:
        if missing := missing_fields(config, family, program):
            names = ", ".join(f"`{name}`" for name in missing)
            raise fail("CFG015", f"the config states no {names}; a model of type `{kind}` is not described without") from None
        raise
    allowed = _unread(config, resolved, allow, kind, report)
    report.raise_errors()
    name = name or _identifier(path.stem if path.is_file() else path.resolve().name, kind)
    count = sum(p.size for p in resolved.model.parameters().values() if p.role != "fixed")
    doc = "\n".join([f"Imported from a config of type {kind}.", *(f"Not taken over: {field}." for field in allowed)])
    text = format_text(Source(f"{name}.specc", print_file(concrete_file(resolved, program, name, doc, count))))
    _prove(text, name, resolved.model)
    return Imported(text, name, tuple(d for d in report.found if d.severity == "warning" and d.code != "LNT001"))


def _tensors(path: Path) -> frozenset[str] | None:
    """The names in the checkpoint beside the config, None where there is none."""
    if not path.is_dir() or not any(path.glob("*.safetensors")):
        return None
    return frozenset(open_checkpoint(path).tensors)


def _listed(resolved: Resolved, field: str) -> frozenset[str]:
    """What the family lists under `ignore` (fields that change nothing) or `unread` (fields without effect in this config)."""
    stated = resolved.body.fields.get(field)
    return frozenset(resolved.scope.field(field, stated.span) if stated else ())


def _stated(config: Record, path: str = "") -> Iterator[tuple[str, Any, bool]]:
    """Every field that the config states, with its value and whether the family read it; also inside the records of which it read fields."""
    for name, value in config.values.items():
        was_read = name in config.read
        yield path + name, value, was_read
        inner = config.get(name) if was_read else None
        if isinstance(inner, Record) and inner.read:
            yield from _stated(inner, f"{path}{name}.")


def _unread(config: Record, resolved: Resolved, allow: frozenset[str], kind: str, report: Report) -> list[str]:
    """Every field of the config that the family did not read must be known to mean nothing, or be named."""
    allowed = []
    risky, ignored, idle = fields_read_by_any(), _listed(resolved, "ignore"), _listed(resolved, "unread")
    for path, value, was_read in list(_stated(config)):
        name = path.rpartition(".")[2]
        if path in ALWAYS_NAMED:
            severity = report.error if path == "quantization_config" and path not in allow else report.warn
            severity("CFG005", f"`{path}`: {ALWAYS_NAMED[path]}")
        elif path in idle and value is not None:
            report.warn("CFG007", f"the published `{kind}` makes no use of `{path}` (here {_short(value)}) in this config, and it was not taken over")
        elif value is None or was_read or path in ignored or _means_nothing(name, value):
            continue
        elif path in allow:
            allowed.append(path)
        elif name in risky or name in NEUTRAL:
            message = f"the family `{kind}` does not read `{path}` (here {_short(value)}), and other families do"
            report.error("CFG006", message, None, f"`--allow {path}` lets it pass and says so in the spec")
        else:
            report.warn("CFG007", f"`{path}` is not known to any family and was not taken over")
    return allowed


def _means_nothing(name: str, value: Any) -> bool:
    """Whether a field, at this value, leaves the architecture as it is in every family."""
    return name in MEANINGLESS or bool(TRAINING.fullmatch(name)) or any(_equal(value, n) for n in NEUTRAL.get(name, ()))


def _equal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and a == b


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _identifier(stem: str, kind: str) -> str:
    """A model's name out of a file's: a word that may stand in a spec and in generated code."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", stem).strip("_").lower()
    fits = bool(name) and not name[0].isdigit() and not keyword.iskeyword(name) and name not in RESERVED
    return name if fits else re.sub(r"\W", "_", kind)


def _prove(text: str, name: str, expected) -> None:
    """Reads the printed spec back: it must mean what the family and the config meant."""
    program = load_source(Source(f"{name}.specc", text), Path(f"{name}.specc"))
    found = resolve(program.models[name], program, Report()).model
    neutral = {"name": "", "doc": ""}
    if _unlabelled(found.model_copy(update=neutral)) != _unlabelled(expected.model_copy(update=neutral)):
        raise fail("CFG008", f"the spec printed for `{name}` does not mean what its family does; this is a fault of specc")


def _unlabelled(model):
    stacks = tuple(s.model_copy(update={"layers": tuple(la.model_copy(update={"label": ""}) for la in s.layers)}) for s in model.stacks)
    return model.model_copy(update={"stacks": stacks})
