"""A model and its parts in figures, as markdown."""

from __future__ import annotations

from specc.diagnostics.finding import SpecError
from specc.ir.model import Model
from specc.ir.node import Component
from specc.resolve.model import Resolved
from specc.tools import facts
from specc.tools.analyse import Costs
from specc.tools.draw.folded import told
from specc.tools.editor import wording
from specc.tools.editor.values import Placed
from specc.tools.spell import ranges, size, spell

MOST_ROWS = 24


def model(model: Model) -> str:
    """Parameters, work, cache and layers of a whole model."""
    costs = Costs(model)
    dims = model.stack.dims
    rows = [("parameters", f"{costs.parameters:,}")]
    if costs.active != costs.parameters:
        rows.append(("active for a token", f"{costs.active:,}"))
    rows += [(f"  in {part}", f"{size:,}") for part, size in costs.by_part.items()]
    rows.append(("weights in bf16", size(costs.weight_bytes("bf16"))))
    if costs.kv_cache(1):
        rows.append(("cache per token in bf16", size(costs.kv_cache(1) - costs.kv_cache(0))))
        if dims.context:
            rows.append((f"cache of {dims.context:,} tokens", size(costs.kv_cache(dims.context))))
    if costs.per_image is not None:
        rows.append(("FLOPs per image", f"{costs.per_image:.3g}"))
    else:
        rows.append(("FLOPs per token", f"{costs.flops(dims.context or 1):.3g}" + (f" at {dims.context:,} tokens" if dims.context else "")))
    return table(("", "", "r"), rows) + "\n\n" + layout(model)


def layout(model: Model) -> str:
    """Which kind of layer stands where."""
    return "\n\n".join(f"{stack.name + ': ' if stack.name else ''}{len(stack.layers)} layers: {told(stack)}" for stack in model.stacks)


def layers(model: Model, label: str) -> str:
    """Where a kind of layer stands, and what one of them holds."""
    found = []
    for stack in model.stacks:
        numbers = [n for n, layer in enumerate(stack.layers) if layer.label == label]
        if not numbers:
            continue
        layer = stack.layers[numbers[0]]
        rows = [(i.path, spell(i.component), f"{sum(p.size for p in i.parameters(stack.dims)):,}") for i in layer.instances]
        rows += [("position", spell(layer.position), ""), ("mask", spell(layer.mask), "")]
        found.append(
            f"{len(numbers)} of {len(stack.layers)} layers: {ranges(numbers)}\n\n" + table(("sublayer", "what it is", "parameters"), rows)
        )
    return "\n\n".join(found)


def component(component: Component) -> str:
    """Every field with its value; those at their default too, for nothing is hidden."""
    cls = type(component)
    rows = [(f"`{name}`", f"`{spell(getattr(component, name))}`") for name in wording.fields_of(cls)]
    return table(("field", "value"), rows) if rows else f"`{component.kind}` has no fields."


def fields_taken(cls: type[Component]) -> str:
    """Every field with what it takes."""
    rows = [(f"`{name}`", wording.type_of(cls, name), _default(cls, name)) for name in wording.fields_of(cls)]
    return table(("field", "takes", "default"), rows) if rows else "It has no fields."


def instances(found: list[Placed]) -> list[str]:
    """The parameters of a component where it stands, with their shapes."""
    if not found:
        return []
    one = found[0]
    count = sum(max(1, len(p.layers)) for p in found)
    learned = [p for p in one.parameters if p.role != "fixed"]
    each = sum(p.size for p in learned)
    total = sum(max(1, len(p.layers)) * sum(q.size for q in p.parameters if q.role != "fixed") for p in found)
    if not one.parameters:
        return ["No parameters."]
    rows = [(f"`{p.name}`", f"[{', '.join(map(str, p.shape))}]", f"{p.size:,}") for p in one.parameters[:MOST_ROWS]]
    if len(one.parameters) > MOST_ROWS:
        rows.append((f"{len(one.parameters) - MOST_ROWS} more", "", ""))
    text = table(("parameter", "shape", "values"), rows)
    return [text, f"{each:,} parameters" + (f", {total:,} in its {count} instances" if count > 1 else "")]


def fact(resolved: Resolved, offset: int) -> str:
    """What the fact of the check at an offset comes to, in each kind of layer where it asks for one."""
    check = next((c for c in resolved.body.checks if c.span.start <= offset < c.span.end), None)
    if check is None:
        return ""
    try:
        found = list(facts.values(check, Costs(resolved.model), resolved))
    except SpecError:
        return ""
    return "\n\n".join(f"`{check.fact.span.text}` is {facts.said(value)}{where}" for value, _, where in found[:MOST_ROWS])


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table of markdown; a column of figures is flush right."""
    width = len(rows[0]) if rows else len(head)
    right = [bool(rows) and all(row[n][:1].isdigit() or not row[n] for row in rows) for n in range(width)]
    lines = [f"| {' | '.join(head[:width])} |", f"|{'|'.join('---:' if r else '---' for r in right)}|"]
    return "\n".join(lines + [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows])


def _default(cls: type[Component], name: str) -> str:
    return "needed, or derived" if wording.is_needed(cls, name) else wording.default_of(cls, name)
