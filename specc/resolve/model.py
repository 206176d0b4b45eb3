"""From a model's body to the IR: every layer, every dimension, every default filled in."""

from __future__ import annotations

from dataclasses import dataclass, field

from specc.diagnostics.finding import Report
from specc.ir.model import Model
from specc.resolve.evaluate import evaluate
from specc.resolve.fields import Body, collect
from specc.resolve.heads import check_tied, read_heads, read_shared
from specc.resolve.parts import Parts
from specc.resolve.program import Program
from specc.resolve.scope import Scope
from specc.resolve.sizes import check_requires
from specc.resolve.stacks import check_sections, check_two, read_stack, stacks_of
from specc.resolve.training import check_objectives, read_training
from specc.resolve.unused import check_unused
from specc.resolve.values import Record
from specc.resolve.weights import weight_maps
from specc.resolve.work import MODEL, Work
from specc.syntax import tree


@dataclass(slots=True)
class Resolved:
    """A model with what the text still knows of it. Warnings are in the report."""

    model: Model
    body: Body
    scope: Scope
    definition: tree.Model
    towers: dict[str, Parts] = field(default_factory=dict)  # the parts of each stack, by its name

    def stack_body(self, name: str) -> Body:
        """The fields that one stack sees: the model's, and those of its own section over them."""
        return self.towers[name].body


def resolve(
    definition: tree.Model,
    program: Program,
    report: Report,
    config: Record | None = None,
    tensors: frozenset[str] | None = None,
    work: Work | None = None,
) -> Resolved:
    """The typed model. Raises SpecError with every error found.

    A family (a model with a parameter) is given its config, and the names of the tensors where a checkpoint is at hand.
    `work`: what was spent on other models of the same file.
    """
    work = work or Work()
    work.spend(MODEL, definition.name_span)
    body = collect(definition, program, report, work)
    report.raise_errors()
    variables = {definition.parameters[0]: config} if definition.parameters and config is not None else {}
    if tensors is not None:
        variables["checkpoint"] = tensors
    scope = Scope(body.fields, report, evaluate, variables, body.layers, work=work)
    model, towers = _read(Parts(definition, body, program, scope, report))
    report.raise_errors()
    return Resolved(model, body, scope, definition, towers)


def _read(parts: Parts) -> tuple[Model, dict[str, Parts]]:
    """The model and the parts of its stacks, part by part; what is wrong with one is kept, and the next is looked at too."""
    check_requires(parts)
    towers, stacks, memory = stacks_of(parts), [], None
    for name, own in towers.items():
        stacks.append(read_stack(name, own, memory))
        memory = own.dims.dim
    last = list(towers.values())[-1]  # the stack that the heads read
    heads = parts.attempt(lambda: read_heads(last))
    training = parts.attempt(lambda: read_training(parts, last.dims))
    parts.scope.used.update(*(own.scope.used for own in towers.values()))
    parts.attempt(lambda: check_unused(parts))
    parts.report.raise_errors()
    definition, dims = parts.definition, last.dims
    model = Model(name=definition.name, doc=definition.doc, stacks=tuple(stacks), heads=heads, shared_tokens=read_shared(parts), training=training)
    if len(stacks) > 1:
        check_sections(parts, towers, stacks)
        parts.report.raise_errors()
        check_two(parts, model)
    parts.dims = dims
    check_tied(parts, model)
    check_objectives(parts, model)
    maps = weight_maps(model, parts.body.weights, parts.scope, parts.report, family=bool(definition.parameters))
    return model.model_copy(update={"weights": maps}), towers
