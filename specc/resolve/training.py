"""What only training uses: rates, the objective, and what new weights are drawn from."""

from __future__ import annotations

from specc.components.registry import OF_TRAINING
from specc.diagnostics.finding import fail
from specc.ir.model import Model, Training
from specc.ir.node import Dims
from specc.resolve.parts import RATES, Parts
from specc.resolve.values import describe


def read_training(parts: Parts, dims: Dims) -> Training:
    """The fields of training: rates of 0, and no objective, where they are not stated."""
    found = {}
    for name in RATES:
        value = parts.value(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
            raise fail("VAL001", f"`{name}` must be at least 0 and less than 1, and it is {describe(value)}", parts.body.fields[name].value.span)
        found[name] = float(value)
    return Training(**found, **{name: parts.component(name, (name,), parts.scope, dims) for name in OF_TRAINING})


def check_objective(parts: Parts, model: Model) -> None:
    """An objective reads the head's logits, so they must be what it is about."""
    objective = model.training.objective
    if objective is None:
        return
    (head,) = model.heads
    dims = head.dims(model.stack.dims)
    logits = head.component.output_shape("logits", dims) if "logits" in head.component.outputs else None
    span = parts.body.fields["objective"].value.span
    if objective.of_two != (model.encoder is not None):
        wanted, found = ("an encoder and a decoder", "one stack") if objective.of_two else ("one stack", "an encoder and a decoder")
        help = "`seq2seq_lm`, `span_corruption` and `denoising` are about two" if not objective.of_two else "`causal_lm` and `masked_lm` are about one"
        raise fail("TRN001", f"`{objective.kind}` trains {wanted}, and this model is {found}", span, help)
    for finding in objective.fits(logits, model.stack.causal, model.stack.dims):
        raise fail(finding.code, finding.message, span, finding.help)
