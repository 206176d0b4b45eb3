"""The body of a model, sorted: `extends` followed, one value per field, its sections apart."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from specc.diagnostics.finding import Report, did_you_mean
from specc.resolve.program import Program
from specc.resolve.work import CALL, Work
from specc.syntax import tree

MOST_BASES = 100


@dataclass(slots=True)
class Body:
    """What a model says, its base's fields underneath its own. elsewhere: layers that another stack may be the one to use."""

    fields: dict[str, tree.Field] = field(default_factory=dict)
    layers: dict[str, tree.Layer] = field(default_factory=dict)
    blocks: dict[str, tree.Block] = field(default_factory=dict)
    stacks: dict[str, tree.Stack] = field(default_factory=dict)
    weights: dict[str, tree.Weights] = field(default_factory=dict)
    checks: list[tree.Check] = field(default_factory=list)
    requires: list[tree.Require] = field(default_factory=list)
    elsewhere: frozenset[str] = frozenset()


def collect(model: tree.Model, program: Program, report: Report, work: Work | None = None, seen: tuple[str, ...] = ()) -> Body:
    """The body of a model with everything it inherits. `checks` are not inherited: they are facts about one model."""
    body, work = Body(), work or Work()
    work.spend(CALL + len(model.body), model.name_span)
    if model.extends is not None:
        base = program.models.get(model.extends)
        if model.extends in (*seen, model.name):
            report.error("VAL005", f"`{model.name}` extends itself: {' -> '.join([*seen, model.name, model.extends])}", model.name_span)
        elif base is None:
            report.error("NAM008", f"no model is called `{model.extends}`", model.name_span, did_you_mean(model.extends, program.models))
        elif len(seen) >= MOST_BASES:
            report.error("LIM014", f"`extends` leads through more than {MOST_BASES} models", model.name_span)
        else:
            body = collect(base, program, report, work, (*seen, model.name))
            body.checks = []
    own = sort(model.body, report)
    return Body(
        body.fields | own.fields,
        body.layers | own.layers,
        body.blocks | own.blocks,
        {name: _over(body.stacks.get(name), section) for name, section in (body.stacks | own.stacks).items()},
        _merged(body.weights, own.weights),
        own.checks,
        body.requires + own.requires,
    )


def _over(base: tree.Stack | None, own: tree.Stack) -> tree.Stack:
    """A section of the same name goes over the base's, statement by statement."""
    if base is None or base is own:
        return own
    named = {_key(statement): statement for statement in base.body}
    for statement in own.body:  # what is given twice within `own` is reported where it is read
        named.pop(_key(statement), None)
    return replace(own, body=(*named.values(), *own.body))


def _key(statement: tree.Statement) -> tuple[type, str]:
    return type(statement), str(getattr(statement, "path", getattr(statement, "name", "")))


def _merged(base: dict[str, tree.Weights], own: dict[str, tree.Weights]) -> dict[str, tree.Weights]:
    """A map of the same name goes over the base's, rule by rule."""
    found = base | own
    for name in base.keys() & own.keys():
        rules = {str(f.path): f for f in base[name].fields} | {str(f.path): f for f in own[name].fields}
        found[name] = replace(own[name], fields=tuple(rules.values()))
    return found


def sort(statements: tuple[tree.Statement, ...], report: Report) -> Body:
    """One body's statements by what they are; a second field of the same name is an error."""
    body = Body()
    for statement in statements:
        match statement:
            case tree.Field(path=path):
                _once(body.fields, str(path), statement, path.span, report)
            case tree.Layer(name=name):
                _once(body.layers, name, statement, statement.span, report)
            case tree.Block(name=name):
                _once(body.blocks, name, statement, statement.span, report)
            case tree.Stack(name=name):
                _once(body.stacks, name, statement, statement.span, report)
            case tree.Weights(name=name):
                _once(body.weights, name, statement, statement.span, report)
            case tree.Checks(items=items):
                body.checks += items
            case tree.Require():
                body.requires.append(statement)
    return body


def _once(found: dict, name: str, statement, span, report: Report) -> None:
    if name in found:
        report.error("NAM005", f"`{name}` is given twice", span, notes=((found[name].span, "first here"),))
    found[name] = statement
