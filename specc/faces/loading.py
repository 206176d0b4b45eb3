"""From what the user names on the command line to models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from specc.diagnostics.finding import Report, fail
from specc.ir.model import TOKENS
from specc.resolve.adapter import ResolvedAdapter, resolve_adapter
from specc.resolve.model import Resolved, resolve
from specc.resolve.program import Program, load
from specc.syntax import tree


def spec_files(paths: list[str]) -> list[Path]:
    """The spec files that paths name: files as they are, folders searched. Raises SpecError where there are none."""
    found: list[Path] = []
    for name in paths:
        path = Path(name)
        if path.is_dir():
            inside = sorted(path.rglob("*.specc"))
            if not inside:
                raise fail("SYS002", f"there is no .specc file in {name}")
            found += inside
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def resolved_models(program: Program, report: Report) -> Iterator[Resolved]:
    """Every model of a file that is no family, resolved."""
    for name in program.own:
        if not program.models[name].parameters:
            yield resolve(program.models[name], program, report)


def resolved_adapters(program: Program, report: Report) -> Iterator[ResolvedAdapter]:
    """Every adapter of a file, with the model it lies over."""
    for definition in program.adapters.values():
        yield resolve_adapter(definition, program, report)


def one_model(path: str, name: str | None = None) -> Resolved:
    """The model that a command works on: the one named, or the only one. Raises SpecError."""
    program, report = load(Path(path)), Report()
    concrete = [n for n in program.own if not program.models[n].parameters]
    if name is None and len(concrete) != 1:
        if not concrete:
            help = "an adapter lies over a model: name that one's file" if program.adapters else "a family is imported: `specc import DIR`"
            raise fail("SYS003", f"{path} holds no model that stands alone", None, help)
        raise fail("SYS003", f"{path} holds several models", None, f"name one with --model: {', '.join(concrete)}")
    name = name or concrete[0]
    if name not in program.models or program.models[name].parameters:
        raise fail("SYS003", f"{path} holds no model `{name}`", None, f"it holds {', '.join(concrete)}")
    return resolve(program.models[name], program, report)


def one_subject(path: str, name: str | None = None) -> Resolved | ResolvedAdapter:
    """The same where a command works on adapters too: what is named, or the only adapter or model of the file."""
    program, report = load(Path(path)), Report()
    if not program.adapters:
        return one_model(path, name)
    known = [*(n for n in program.own if not program.models[n].parameters), *program.adapters]
    if name is None and len(known) != 1:
        raise fail("SYS003", f"{path} holds several models and adapters", None, f"name one with --model: {', '.join(known)}")
    name = name or known[0]
    if name in program.adapters:
        return resolve_adapter(program.adapters[name], program, report)
    return one_model(path, name)


def origins(resolved: Resolved) -> dict[str, str]:
    """The place in the source, `file:line`, of what each part of the state dict comes from; a layer's own sums come from its block."""
    model, lines = resolved.model, {}

    def note(key: str, path: str, fields: dict[str, tree.Field]) -> None:
        field = fields.get(path) or fields.get(path.partition(".")[0])
        if field is not None:
            lines[key] = f"{Path(field.span.source.name).name}:{field.span.line}"

    for part in model.heads:
        note(part.key, part.path, resolved.body.fields)
    for stack in model.stacks:
        body = resolved.stack_body(stack.name)
        sections = {label: {str(s.path): s for s in section.body if isinstance(s, tree.Field)} for label, section in body.layers.items()}
        for part in stack.embedding.instances:
            note(model.tables[stack.name] if part.key == TOKENS else stack.prefix + part.key, part.path, body.fields)
        note(f"{stack.prefix}embed", "embed", body.fields)
        note(f"{stack.prefix}final_norm", "final_norm" if "final_norm" in body.fields else "norm", body.fields)
        for number, layer in enumerate(stack.layers):
            fields = body.fields | sections.get(layer.label, {})
            note(f"{stack.prefix}layers.{number}", "block", fields)
            for part in layer.instances:
                note(f"{stack.prefix}layers.{number}.{part.key}", part.path, fields)
    return lines
