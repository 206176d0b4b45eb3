"""What only training uses: rates, objectives, and what new weights are drawn from."""

from __future__ import annotations

from specc.diagnostics.finding import fail
from specc.ir.model import Model, Training
from specc.ir.node import Component, Dims
from specc.resolve.components import build
from specc.resolve.parts import RATES, Parts
from specc.resolve.values import describe
from specc.source import Span


def read_training(parts: Parts, dims: Dims) -> Training:
    """The fields of training: rates of 0, for the embedding that of the sublayers, and no objective, where they are not stated."""
    found = {}
    for name in RATES:
        value = parts.value(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
            raise fail("VAL001", f"`{name}` must be at least 0 and less than 1, and it is {describe(value)}", parts.body.fields[name].value.span)
        found[name] = float(value)
    found.setdefault("embed_dropout", found.get("dropout", 0.0))
    return Training(**found, objective=_objectives(parts, dims), init=parts.component("init", ("init",), parts.scope, dims))


def _objectives(parts: Parts, dims: Dims) -> tuple[Component, ...]:
    value = parts.value("objective")
    if value is None:
        return ()
    span = parts.body.fields["objective"].value.span
    found = tuple(build(one, ("objective",), dims, span, parts.scope) for one in (value if isinstance(value, list) else [value]))
    kinds = [objective.kind for objective in found]
    if twice := [kind for kind in kinds if kinds.count(kind) > 1]:
        raise fail("TRN001", f"`{twice[0]}` is among the objectives twice", span)
    return found


def check_objectives(parts: Parts, model: Model) -> None:
    """An objective reads logits of a head, so there must be some that it can be about."""
    for objective in model.training.objective:
        _check(objective, model, parts.body.fields["objective"].value.span)


def _check(objective: Component, model: Model, span: Span) -> None:
    if objective.of_two != (model.encoder is not None):
        wanted, found = ("an encoder and a decoder", "one stack") if objective.of_two else ("one stack", "an encoder and a decoder")
        help = "`causal_lm` and `masked_lm` are about one" if objective.of_two else "`seq2seq_lm`, `span_corruption` and `denoising` are about two"
        raise fail("TRN001", f"`{objective.kind}` trains {wanted}, and this model is {found}", span, help)
    if objective.reads(model.outputs, model.stack.causal, model.stack.dims) is None:
        first = next((extents for name, extents in model.outputs.items() if name.endswith("logits")), None)
        if first is None:
            raise fail("TRN001", f"`{objective.kind}` is a loss of logits, and the head gives none", span)
        for finding in objective.fits(first, model.stack.causal, model.stack.dims):
            raise fail(finding.code, finding.message, span, finding.help)
