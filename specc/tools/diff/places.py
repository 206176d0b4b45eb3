"""Where in the source a value is said: the argument, else the call, else the field, with what it refers to followed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specc.resolve.model import Resolved
from specc.resolve.reach import parts
from specc.source import Span
from specc.syntax import tree

STEPS = 50  # names that are followed from one to the next


def place_of(resolved: Resolved, path: str, fields: tuple[str, ...] = (), label: str | None = None, stack: str = "") -> str | None:
    """`file:line` of a field of a part, in the layer of this label of a stack; None where the text does not say it."""
    body = resolved.stack_body(stack) if stack in resolved.towers else resolved.body
    known = dict(body.fields)
    section = body.layers.get(label) if label is not None else None
    if section is not None:
        known |= {str(s.path): s for s in section.body if isinstance(s, tree.Field)}
    span = _span(path, fields, known)
    return None if span is None else f"{span.source.name}:{span.line}"


def _span(path: str, fields: tuple[str, ...], known: dict[str, tree.Field]) -> Span | None:
    head, _, label = path.partition(".")
    if head == "embed" and "embed" in known:
        return _within(_called(known["embed"].value, label) or known["embed"].value, fields, known) or known["embed"].span
    names = (path, head, "norm") if head == "final_norm" else (path, head)
    field = next((known[name] for name in names if name in known), None)
    if field is None and fields and fields[-1] in known:  # a default that the model's own sizes give
        return known[fields[-1]].span
    if field is None:
        return None
    return _within(field.value, fields, known) or field.span


def _called(expr: tree.Expr, name: str) -> tree.Expr | None:
    """The call of a part inside the embedding's formula."""
    return next((e for e in parts(expr) if isinstance(e, tree.Call) and isinstance(e.function, tree.Name) and e.function.id == name), None)


def _within(expr: tree.Expr, fields: tuple[str, ...], known: dict[str, tree.Field]) -> Span | None:
    """The deepest place on the way to a field; None where not even its first call is found."""
    found: Span | None = None
    for name in (*fields, None):
        expr = _followed(expr, known)
        if not isinstance(expr, tree.Call):
            return found
        found = expr.span
        argument = next((a for a in expr.arguments if a.name == name), None)
        if argument is None and name is not None:
            argument = next((a for a in expr.arguments if a.name is None), None)
        if name is None or argument is None:
            return found
        found, expr = argument.span, argument.value
    return found


def _followed(expr: tree.Expr, known: dict[str, tree.Field]) -> tree.Expr:
    seen: set[str] = set()
    while isinstance(expr, tree.Name) and expr.id in known and expr.id not in seen and len(seen) < STEPS:
        seen.add(expr.id)
        expr = known[expr.id].value
    return expr


def comments(resolved: Resolved) -> Iterator[str]:
    """The comments of a model's own text, line by line; a `#` inside a string is none."""
    span = resolved.definition.span
    lines = span.source.text[: span.start].splitlines()
    above = []
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        above.append(lines.pop())
    for line in [*reversed(above), *span.text.splitlines(), *span.source.text[span.end :].split("\n")[:1]]:
        bare = re.sub(r'"[^"\n]*"', lambda found: "_" * len(found[0]), line)
        if "#" in bare:
            yield line[bare.index("#") :].strip()
