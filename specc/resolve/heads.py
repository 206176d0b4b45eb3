"""The norm after the last layer, and what is read off the last hidden state."""

from __future__ import annotations

from specc.diagnostics.finding import fail
from specc.ir.model import Instance, Model
from specc.ir.node import Component
from specc.resolve.components import build
from specc.resolve.evaluate import evaluate, truth
from specc.resolve.parts import Parts
from specc.resolve.wiring import DECLARED


def read_final_norm(parts: Parts) -> Component | None:
    """Stated by the model, or by its block."""
    if "final_norm" in parts.body.fields:
        return parts.component("final_norm", ("norm",), parts.scope, parts.dims)
    declared = [s for s in parts.block(parts.scope).fields if str(s.path) in DECLARED] if "block" in parts.body.fields else []
    if not declared:
        message = f"neither the model `{parts.definition.name}` nor its block says whether a norm follows the last layer"
        raise fail("VAL002", message, parts.definition.name_span, "add `final_norm = norm` or `final_norm = none`")
    value = evaluate(declared[0].value, parts.scope)
    return None if value is None else build(value, ("norm",), parts.dims, declared[0].value.span, parts.scope)


def read_heads(parts: Parts) -> tuple[Instance, ...]:
    """The head, or several under the names of their kinds."""
    if "head" not in parts.body.fields:
        raise fail("VAL002", f"the model `{parts.definition.name}` states no `head`", parts.definition.name_span, "add `head = lm(tied: true)`, for one")
    value, span = parts.value("head"), parts.body.fields["head"].value.span
    values = value if isinstance(value, list) else [value]
    if not values:
        raise fail("VAL002", f"the model `{parts.definition.name}` has an empty list of heads", span, "`head = hidden` gives the last hidden state itself")
    heads = [build(value, ("head",), parts.dims, span, parts.scope) for value in values]
    given: dict[str, str] = {}
    for head in heads:
        for name in head.outputs:
            if given.setdefault(name, head.kind) != head.kind or [h.kind for h in heads].count(head.kind) > 1:
                raise fail("CAP002", f"the heads `{given[name]}` and `{head.kind}` both give `{name}`, and an output has one meaning", span)
    paths = ["head"] if len(heads) == 1 else [f"head.{head.kind}" for head in heads]
    return tuple(Instance(path=path, component=head, width=parts.dims.dim) for path, head in zip(paths, heads, strict=True))


def check_tied(parts: Parts, model: Model) -> None:
    """A tied head reads the token table, so there must be one, of the head's width."""
    for head in model.heads:
        if not getattr(head.component, "tied", False):
            continue
        tables = [i for i in model.stack.embedding.instances if i.path == "embed.tokens"]
        wanted = getattr(head.component, "width", None) or parts.dims.dim
        if not tables or tables[0].component.width != wanted:
            width = f"{tables[0].component.width} wide" if tables else "missing"
            raise fail("SHP005", f"a tied head of width {wanted} needs a token table as wide, and it is {width}", parts.body.fields["head"].value.span)


def read_shared(parts: Parts) -> bool:
    """Whether an encoder and a decoder read one token table."""
    value = parts.value("shared_tokens")
    return True if value is None else truth(value, parts.body.fields["shared_tokens"].value.span)
