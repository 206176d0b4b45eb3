"""From an adapter's text to the IR: its model, its methods, and that each of them acts somewhere."""

from __future__ import annotations

from dataclasses import dataclass

from specc.components.adapter.base import Method
from specc.diagnostics.finding import Report, SpecError, did_you_mean, fail
from specc.ir.adapter import Adapter, sites
from specc.ir.adapter_sites import called
from specc.ir.adapter_slots import matched, places
from specc.ir.model import Model
from specc.resolve.components import build
from specc.resolve.evaluate import evaluate
from specc.resolve.model import Resolved, resolve
from specc.resolve.paths import with_spans
from specc.resolve.program import Program
from specc.resolve.scope import Scope
from specc.resolve.values import Constructor
from specc.resolve.work import CALL, Work
from specc.source import Span
from specc.syntax import tree


@dataclass(slots=True)
class ResolvedAdapter:
    """An adapter, the model under it, and its text."""

    adapter: Adapter
    base: Resolved
    definition: tree.Adapter


def resolve_adapter(definition: tree.Adapter, program: Program, report: Report, work: Work | None = None) -> ResolvedAdapter:
    """The typed adapter. Raises SpecError with every error found."""
    work = work or Work()
    base = _base(definition, program, report, work)
    fields: dict[str, tree.Field] = {}
    for statement in definition.body:
        if isinstance(statement, tree.Field):
            name = str(statement.path)
            if name in fields:
                report.error("NAM005", f"`{name}` is given twice", statement.path.span, notes=((fields[name].span, "first here"),))
            fields[name] = statement
    scope = Scope(fields, report, evaluate, work=work)
    found: list[tuple[Method, tree.Call]] = []
    for call in (s for s in definition.body if isinstance(s, tree.Call)):
        work.spend(CALL + len(base.model.stack.layers), call.span)
        try:
            found.append((_method(call, base.model, scope), call))
        except SpecError as error:
            report.add(*error.diagnostics)
    report.raise_errors()
    if not found:
        raise fail("ADP001", f"the adapter `{definition.name}` holds no method", definition.name_span, "add one, such as `lora(rank: 8, targets: [attention.q])`")
    _check_overlap(found, base.model, report)
    for name in fields.keys() - scope.used:
        report.warn("LNT001", f"`{name}` is bound and never used", fields[name].path.span)
    report.raise_errors()
    adapter = Adapter(name=definition.name, doc=definition.doc, base=base.model, methods=tuple(method for method, _ in found))
    return ResolvedAdapter(adapter, base, definition)


def _base(definition: tree.Adapter, program: Program, report: Report, work: Work) -> Resolved:
    """The model that the adapter lies over."""
    if not definition.named:
        program = program.bases[definition.name]
    models = {name: model for name, model in program.models.items() if not model.parameters}
    if definition.named:
        if definition.target not in models:
            hint = did_you_mean(definition.target, models)
            raise fail("NAM008", f"no model that stands alone is called `{definition.target}`", definition.target_span, hint)
        return resolve(models[definition.target], program, report, work=work)
    own = [name for name in program.own if name in models]
    if len(own) != 1:
        held = f"it holds {', '.join(own)}" if own else "it holds none that stands alone"
        help = f'write `use "{definition.target}"` and `adapter {definition.name} for {own[0]}`' if own else None
        raise fail("ADP003", f"an adapter lies over one model, and {definition.target} does not say which: {held}", definition.target_span, help)
    return resolve(models[own[0]], program, report, work=work)


def _method(call: tree.Call, model: Model, scope: Scope) -> Method:
    """One call as a component that acts somewhere in the model. Raises SpecError where it does not."""
    name = call.function.id if isinstance(call.function, tree.Name) else ""
    method = build(Constructor(name, call.arguments, scope, call.span), ("adapter",), model.stack.dims, call.span, scope)
    for argument in call.arguments:
        if argument.name is not None and method.holds_paths(argument.name):
            for target, span in with_spans(argument.value, scope):
                scope.work.spend(CALL + len(places(model)) // 16, span)  # each target is held against every place
                _check_target(method, target, span, model)
    if method.layers is not None and (wrong := [n for n in method.layers if not 0 <= n < model.stack.dims.depth]):
        raise fail("ADP004", f"there is no layer {wrong[0]}: the model has {model.stack.dims.depth}", call.span)
    for site in (acting := sites(method, model)):
        if (reason := method.refuses(site)) is not None:
            raise fail("ADP006", f"`{name}` cannot act on `{site.key}`: {reason}", call.span)
    if not acting:
        raise fail("ADP004", f"`{name}` acts nowhere in the model `{model.name}`", call.span)
    return method


def _check_target(method: Method, target: tuple[str, ...], span: Span, model: Model) -> None:
    """A place that the model does not have is an error."""
    if method.place == "call":
        known = {role.rpartition(":")[2] for _, _, role in called(model)} | {role for _, _, role in called(model)}
        if len(target) > 1 or target[0] not in known:
            names = " and ".join(target)
            raise fail("ADP004", f"no block of the model `{model.name}` calls `{names}`", span, did_you_mean(target[0], known))
        return
    known = places(model)
    if any(True for _ in matched(target, known)):
        return
    roles = sorted({place.role for place in known})
    for path in target:
        if not any(True for _ in matched((path,), known)):
            raise fail("ADP004", f"the model `{model.name}` has no linear map or table `{path}`", span, _hint(path, roles, model))
    raise fail("ADP004", "no layer holds these maps side by side, with the same input", span)


def _hint(path: str, roles: list[str], model: Model) -> str | None:
    head = model.heads[0] if model.heads else None
    if head is not None and path == head.path and getattr(head.component, "tied", False):
        return "the head shares the token table: it has no weight of its own"
    return did_you_mean(path, roles)


def _check_overlap(found: list[tuple[Method, tree.Call]], model: Model, report: Report) -> None:
    """One method of a kind for a place, and none beside one that makes the place's result anew."""
    first: dict[tuple[str, bool, str], tree.Call] = {}
    taken: dict[str, list[Method]] = {}
    for method, call in found:
        for site, key in [(s, key) for s in sites(method, model) for key in [slot.key for slot in s.slots] or [s.key]]:
            if (known := first.get((method.kind, site.on_input, key))) is not None:
                note = ((known.span, "first here"),)
                report.error("ADP005", f"two `{method.kind}` act on `{key}`", call.span, notes=note)
                break
            first[method.kind, site.on_input, key] = call
            if site.slots:
                taken.setdefault(key, []).append(method)
    for key, methods in taken.items():
        if len(methods) > 1 and any(method.whole for method in methods):
            report.error("ADP005", f"DoRA makes the result of `{key}` anew, and another method acts on it too", found[0][1].span)
            return
