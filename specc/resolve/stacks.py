"""The stacks of a model: the only one, or an encoder and a decoder, each the model's fields with its own section's on top."""

from __future__ import annotations

from specc.components.registry import OF_TRAINING
from specc.diagnostics.finding import Diagnostic, SpecError, fail
from specc.ir.model import TOKENS, Model, Stack
from specc.ir.shared_keys import findings
from specc.ir.wiring import calls
from specc.resolve.embedding import read_embedding
from specc.resolve.evaluate import evaluate
from specc.resolve.fields import Body, sort
from specc.resolve.heads import read_final_norm
from specc.resolve.layers import Layers
from specc.resolve.parts import RATES, Parts
from specc.resolve.scope import Scope
from specc.resolve.sizes import read_dims
from specc.source import Span
from specc.syntax import tree

NAMES = ("encoder", "decoder")
WHOLE = ("head", "shared_tokens", "sample", "ignore", *RATES, *OF_TRAINING)  # fields of the model, not of one of its stacks


def stacks_of(whole: Parts) -> dict[str, Parts]:
    """Each stack's fields, in the order of the stacks, under its name; "" for the only one. Raises SpecError."""
    sections = whole.body.stacks
    if not sections:
        if "shared_tokens" in whole.body.fields:
            raise fail("NAM010", "`shared_tokens` is of models with an encoder and a decoder", whole.body.fields["shared_tokens"].path.span)
        return {"": whole}
    for name, other in (NAMES, NAMES[::-1]):
        if name not in sections:
            raise fail("VAL002", f"the model `{whole.definition.name}` has a section `{other}` and none called `{name}`", sections[other].span)
    return {name: _parts(whole, sections[name]) for name in NAMES}


def _parts(whole: Parts, section: tree.Stack) -> Parts:
    """One of two stacks. Raises SpecError with everything that does not belong into its section."""
    wrong: list[Diagnostic] = []
    for statement in section.body:
        if not isinstance(statement, (tree.Field, tree.Layer)):
            wrong.append(Diagnostic("NAM006", f"the section `{section.name}` holds fields and layers only", statement.span))
        elif isinstance(statement, tree.Field) and str(statement.path) in WHOLE:
            wrong.append(Diagnostic("NAM010", f"`{statement.path}` belongs to the model, not to one of its stacks", statement.path.span))
    if wrong:
        raise SpecError(wrong)
    own = sort(section.body, whole.report)
    whole.report.raise_errors()
    base = whole.body
    body = Body(base.fields | own.fields, base.layers | own.layers, base.blocks, elsewhere=frozenset(base.layers.keys() - own.layers.keys()))
    scope = Scope(body.fields, whole.report, evaluate, whole.scope.variables, body.layers, work=whole.scope.work)
    return Parts(whole.definition, body, whole.program, scope, whole.report, section=own)


def read_stack(name: str, parts: Parts, memory: int | None) -> Stack | None:
    """A stack, part by part; what is wrong with one is kept, and the next is looked at too. `memory`: the width of the encoder before it."""
    parts.dims, parts.memory = read_dims(parts), memory
    embedding = parts.attempt(lambda: read_embedding(parts))
    layers, sets = parts.attempt(Layers(parts).read) or (None, ())
    final_norm = parts.attempt(lambda: read_final_norm(parts))
    if embedding is None or layers is None or parts.report.errors:
        return None
    stack = Stack(name=name, dims=parts.dims, embedding=embedding, layers=layers, sets=sets, final_norm=final_norm)
    parts.attempt(lambda: _check_rows(parts, stack))
    for layer, found in findings(stack):
        parts.report.error(found.code, found.message, _kv_from(parts, layer.label), found.help)
    return stack


def _kv_from(parts: Parts, label: str) -> Span:
    """Where a kind of layers says whose keys and values it reads."""
    section = parts.body.layers.get(label)
    said = [s for s in section.body if isinstance(s, tree.Field) and str(s.path) == "kv_from"] if section else []
    return (said or [parts.body.fields["kv_from"]])[0].value.span


def _check_rows(parts: Parts, stack: Stack) -> None:
    """What depends on all tokens of a row cannot stand where a row may be read step by step."""
    parted = [*stack.embedding.instances, *(i for layer in stack.distinct for i in layer.instances)]
    whole = next((i.component for i in parted if getattr(i.component, "whole_rows", False)), None)
    if whole is not None and stack.causal:
        message = f"`{whole.kind}` reads whole rows, and this stack keeps what it has read and goes on from there"
        place = parts.body.fields.get("attention" if whole.axis == "attention" else "embed")
        raise fail("CAP007", message, place.value.span if place else parts.definition.span)
    own = {wanted.name: i.component for i in stack.embedding.instances for wanted in i.component.inputs() if wanted.shape == ("B", "T")}
    for layer in stack.distinct if stack.causal else ():
        for wanted in layer.position.inputs():
            if wanted.name in own:
                message = f"`{own[wanted.name].kind}` takes `{wanted.name}` of the new tokens, and `{layer.position.kind}` of all so far"
                raise fail("CAP007", message, parts.body.fields["position"].value.span if "position" in parts.body.fields else parts.definition.span)


def check_sections(whole: Parts, towers: dict[str, Parts], stacks: list[Stack]) -> None:
    """What a section sets and its stack does not ask for, and layers that stand in neither."""
    if whole.definition.parameters:
        return  # not every config of a family uses every field
    for name, parts in towers.items():
        mentioned = {field for field in parts.body.fields if field in parts.scope.used}
        for field, statement in parts.section.fields.items():
            if field not in mentioned:
                whole.report.error("LNT002", f"the {name} sets `{field}`, and nothing in it uses that", statement.path.span)
    standing = {layer.label for stack in stacks for layer in stack.distinct}
    for label, layer in whole.body.layers.items():
        if label not in standing:
            whole.report.error("LNT003", f"the layer `{label}` is never used", layer.span)


def check_two(whole: Parts, model: Model) -> None:
    """What an encoder and a decoder need to be to each other. Raises SpecError."""
    encoder, decoder = model.stacks
    span = whole.body.stacks["decoder"].span
    for stack in model.stacks:
        for wanted in model.inputs(stack).values():
            if wanted.name != "input_ids":
                raise fail("CAP001", f"the {stack.name} cannot take the input `{wanted.name}` yet", whole.body.stacks[stack.name].span)
    if not decoder.causal:
        raise fail("CAP001", "a decoder that sees later tokens cannot be compiled yet: it gives one token after the other", span)
    if not any(len(c.inputs) > 1 for layer in decoder.distinct for a in layer.block.body for c in calls(a.value)):
        raise fail("VAL010", "nothing in the decoder reads the encoder's output", span, "`block = pre_norm_cross`, for one")
    if not any(layer.served for layer in decoder.distinct):
        raise fail("CAP001", "a decoder whose tokens do not read one another cannot be compiled yet", span)
    for head in model.heads:
        if not all("sequence" in head.component.output_shape(name, decoder.dims) for name in head.component.outputs):
            raise fail("CAP001", "a head that reads a whole target cannot be compiled yet", whole.body.fields["head"].value.span)
    tables = [i.component for stack in model.stacks for i in stack.embedding.instances if i.key == TOKENS]
    if model.shared_tokens and len({(table.vocab, table.width) for table in tables}) > 1:
        raise fail("SHP005", "the encoder and the decoder share one token table, and theirs differ in size", span, "`shared_tokens = false` gives each its own")
