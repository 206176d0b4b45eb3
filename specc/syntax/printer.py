"""Tree to text in the canonical layout: one field per line, `=` aligned, lines of at most 100 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from specc.syntax import tree
from specc.syntax.layout import WIDTH, flat, quoted, wrapped

Printable = tree.Statement | tree.Use | tree.Model | tree.Adapter | tree.Call | tree.Check

_INDENT = "  "


def print_file(file: tree.File) -> str:
    """The whole file, ending in a line break. Parsing it gives the same tree."""
    parts: list[str] = [] if file.version is None else [f"specc {file.version}\n"]
    before: object = None
    for item in file.items:
        if parts and not (isinstance(item, tree.Use) and isinstance(before, tree.Use)):
            parts.append("\n")
        parts.append(print_statement(item) + "\n")
        before = item
    return "".join(parts)


def print_expression(expression: tree.Expr) -> str:
    """The expression on one line."""
    return flat(expression)


def print_statement(statement: Printable, depth: int = 0) -> str:
    """A statement or section with its doc comment, `depth` levels of indentation deep; no line break at the end."""
    return "\n".join(_statement(statement, _INDENT * depth))


def _statement(statement: Printable, indent: str, width: int = 0) -> list[str]:
    """The lines of a statement; `width` is what a field's path is padded to."""
    match statement:
        case tree.Use(path=path):
            return [f"{indent}use {quoted(path)}"]
        case tree.Model():
            parameters = f"({', '.join(statement.parameters)})" if statement.parameters else ""
            extends = f" extends {statement.extends}" if statement.extends else ""
            head = f"model {statement.name}{parameters}{extends}"
            return _doc(statement.doc, indent) + _section(head, statement.body, indent)
        case tree.Adapter():
            head = f"adapter {statement.name} for {statement.target if statement.named else quoted(statement.target)}"
            return _doc(statement.doc, indent) + _section(head, statement.body, indent)
        case tree.Block():
            head = f"block {statement.name}({', '.join(statement.parameters)})"
            return _doc(statement.doc, indent) + _section(head, statement.fields, indent)
        case tree.Layer():
            return _doc(statement.doc, indent) + _short_section(f"layer {statement.name}", statement.body, indent)
        case tree.Stack():
            return _short_section(statement.name, statement.body, indent)
        case tree.Checks():
            one = len(statement.items) < 2
            return (_short_section if one else _section)("checks", statement.items, indent)
        case tree.Weights():
            return _section(f"weights {statement.name}", statement.fields, indent)
        case tree.Field():
            path = str(statement.path).ljust(width)
            return _doc(statement.doc, indent) + _lines(f"{indent}{path} = ", statement.value, indent)
        case tree.Check():
            return _lines(f"{indent}{flat(statement.fact)} {statement.operator} ", statement.value, indent, level="??")
        case tree.Require():
            lines = _lines(f"{indent}require ", statement.condition, indent)
            return _joined(lines, f" else {quoted(statement.otherwise)}", indent)
        case tree.Call():
            return _lines(indent, statement, indent)
    raise TypeError(f"no statement of specc: {type(statement).__name__}")


def _doc(doc: str, indent: str) -> list[str]:
    return [f"{indent}## {line}".rstrip() for line in doc.split("\n")] if doc else []


def _lines(before: str, value: tree.Expr, indent: str, level: str = "") -> list[str]:
    return (before + wrapped(value, indent, WIDTH - len(before), level)).split("\n")


def _joined(lines: list[str], tail: str, indent: str) -> list[str]:
    if len(lines[-1]) + len(tail) <= WIDTH:
        return [*lines[:-1], lines[-1] + tail]
    return [*lines, f"{indent}{_INDENT}{tail.lstrip()}"]


def _section(head: str, body: Sequence[Printable], indent: str) -> list[str]:
    if not body:
        return [f"{indent}{head} {{ }}"]
    return [f"{indent}{head} {{", *_body(body, indent + _INDENT), f"{indent}}}"]


def _short_section(head: str, body: Sequence[Printable], indent: str) -> list[str]:
    """On one line where it holds only undocumented fields or checks and fits, else a statement a line."""
    if body and all(isinstance(part, tree.Check) or isinstance(part, tree.Field) and not part.doc for part in body):
        parts = [_statement(part, "") for part in body]
        line = f"{indent}{head} {{ {'  '.join(part[0] for part in parts)} }}"
        if all(len(part) == 1 for part in parts) and len(line) <= WIDTH:
            return [line]
    return _section(head, body, indent)


def _body(body: Sequence[Printable], indent: str) -> Iterable[str]:
    """The statements of a section: the `=` of neighbouring fields aligned, a blank line around longer sections."""
    lines: list[str] = []
    before_is_long = False
    for run in _runs(body):
        width = max(len(str(part.path)) for part in run if isinstance(part, tree.Field)) if isinstance(run[0], tree.Field) else 0
        for part in run:
            printed = _statement(part, indent, width)
            is_long = len(printed) > 1 and not isinstance(part, (tree.Field, tree.Call, tree.Check, tree.Require))
            if lines and (is_long or before_is_long):
                lines.append("")
            lines += printed
            before_is_long = is_long
    return lines


def _runs(body: Sequence[Printable]) -> list[list[Printable]]:
    """Neighbouring fields together; a doc comment begins a new run."""
    runs: list[list[Printable]] = []
    for part in body:
        joins = isinstance(part, tree.Field) and not part.doc and bool(runs) and isinstance(runs[-1][-1], tree.Field)
        if joins:
            runs[-1].append(part)
        else:
            runs.append([part])
    return runs
