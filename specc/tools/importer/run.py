"""The import itself: config and family to a concrete spec, held against the family it came from."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specc.diagnostics.finding import Diagnostic, Report, fail
from specc.resolve.model import resolve
from specc.resolve.program import load_source
from specc.resolve.values import Record
from specc.source import Source
from specc.syntax.printer import print_file
from specc.tools.importer.concrete import concrete_file
from specc.tools.importer.config import model_type, read_config
from specc.tools.importer.families import family_of, fields_read_by_any
from specc.tools.importer.fields import ALWAYS_NAMED, MEANINGLESS, NEUTRAL, TRAINING
from specc.weights.checkpoint import open_checkpoint


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
    resolved = resolve(family, program, report, config, tensors)
    allowed = _unread(values, config.read, _ignored(resolved), allow, kind, report)
    report.raise_errors()
    name = name or _identifier(path.stem if path.is_file() else path.resolve().name, kind)
    count = sum(p.size for p in resolved.model.parameters().values() if p.role != "fixed")
    doc = "\n".join([f"Imported from a config of type {kind}.", *(f"Not taken over: {field}." for field in allowed)])
    text = print_file(concrete_file(resolved, program, name, doc, count))
    _prove(text, name, resolved.model)
    return Imported(text, name, tuple(d for d in report.found if d.severity == "warning" and d.code != "LNT001"))


def _tensors(path: Path) -> frozenset[str] | None:
    """The names in the checkpoint beside the config, None where there is none."""
    if not path.is_dir() or not any(path.glob("*.safetensors")):
        return None
    return frozenset(open_checkpoint(path).tensors)


def _ignored(resolved) -> frozenset[str]:
    field = resolved.body.fields.get("ignore")
    names = resolved.scope.field("ignore", field.span) if field else []
    return frozenset(names)


def _unread(values: dict[str, Any], read: set[str], ignored: frozenset[str], allow: frozenset[str], kind: str, report: Report) -> list[str]:
    """Every field of the config that the family did not read must be known to mean nothing, or be named."""
    allowed = []
    risky = fields_read_by_any()
    for name, value in values.items():
        if name in ALWAYS_NAMED:
            severity = report.error if name == "quantization_config" and name not in allow else report.warn
            severity("CFG005", f"`{name}`: {ALWAYS_NAMED[name]}")
        elif value is None or name in read or name in ignored or _means_nothing(name, value):
            continue
        elif name in allow:
            allowed.append(name)
        elif name in risky or name in NEUTRAL:
            message = f"the family `{kind}` does not read `{name}` (here {_short(value)}), and other families do"
            report.error("CFG006", message, None, f"`--allow {name}` lets it pass and says so in the spec")
        else:
            report.warn("CFG007", f"`{name}` is not known to any family and was not taken over")
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
    """A model's name out of a file's: a word that may stand in generated code."""
    name = re.sub(r"\W+", "_", stem).strip("_").lower()
    fits = bool(name) and not name[0].isdigit() and not keyword.iskeyword(name) and name != "config"
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
