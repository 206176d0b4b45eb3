"""From a model's body to the IR: every layer, every dimension, every default filled in."""

from __future__ import annotations

from dataclasses import dataclass

from specc.diagnostics.finding import Report, fail
from specc.ir.model import Model, Stack
from specc.resolve.embedding import read_embedding
from specc.resolve.evaluate import evaluate
from specc.resolve.fields import Body, collect
from specc.resolve.heads import check_tied, read_final_norm, read_heads
from specc.resolve.layers import Layers
from specc.resolve.parts import Parts
from specc.resolve.program import Program
from specc.resolve.scope import Scope
from specc.resolve.sizes import check_requires, read_dims, read_training
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
    model = _read(Parts(definition, body, program, scope, report))
    report.raise_errors()
    return Resolved(model, body, scope, definition)


def _read(parts: Parts) -> Model:
    """The model, part by part; what is wrong with one is kept, and the next is looked at too."""
    for stack in parts.body.stacks.values():
        raise fail("CAP001", f"`{stack.name}` stacks cannot be compiled yet", stack.span)
    check_requires(parts)
    parts.dims = read_dims(parts)
    embedding = parts.attempt(lambda: read_embedding(parts))
    layers, sets = parts.attempt(Layers(parts).read) or ((), ())
    final_norm = parts.attempt(lambda: read_final_norm(parts))
    heads = parts.attempt(lambda: read_heads(parts))
    training = parts.attempt(lambda: read_training(parts))
    parts.attempt(lambda: check_unused(parts))
    parts.report.raise_errors()
    definition = parts.definition
    stack = Stack(dims=parts.dims, embedding=embedding, layers=layers, sets=sets, final_norm=final_norm)
    model = Model(name=definition.name, doc=definition.doc, stacks=(stack,), heads=heads, training=training)
    check_tied(parts, model)
    maps = weight_maps(model, parts.body.weights, parts.scope, parts.report, family=bool(definition.parameters))
    return model.model_copy(update={"weights": maps})
