"""The embedding: its formula, and the parts that the formula calls."""

from __future__ import annotations

from specc.diagnostics.finding import fail
from specc.ir.model import Embedding, Instance
from specc.ir.node import Component
from specc.ir.wiring import Wire
from specc.resolve.components import build
from specc.resolve.parts import Parts
from specc.resolve.values import Constructor
from specc.resolve.width import check_patches, tokens_of, width_of
from specc.resolve.wiring import Wirer
from specc.source import Span
from specc.syntax import tree


def read_embedding(parts: Parts) -> Embedding:
    """The formula with its parts; the token table alone where the model states none."""
    image = parts.dims.image is not None
    if "embed" not in parts.body.fields:
        if image:
            message = f"the model `{parts.definition.name}` reads images and states no `embed`"
            raise fail("VAL002", message, parts.definition.name_span, "add `embed = concat(class_token(), patches(bias: true)) + learned_position()`, for one")
        field = tree.Call(tree.Name("tokens", parts.definition.span), (), parts.definition.span)
    else:
        parts.scope.used.add("embed")
        field = parts.body.fields["embed"].value
    instances: dict[str, Instance] = {}

    def instance(path: str, inputs: tuple[Wire, ...], others: tuple[tree.Argument, ...], span: Span) -> str | None:
        head, _, label = path.partition(".")
        if head in parts.body.fields and label:
            if len(inputs) != 1:
                raise fail("TYP013", f"`{path}` takes one value of the formula", span)
            width = width_of(inputs[0], instances, span)
            component = _labelled(parts, path, head, width)
            name = path
        else:
            name = f"embed.{path}"
            dims = parts.dims
            if image and wirer.beside is not None:  # a table of positions is as long as what it is added to
                dims = dims.model_copy(update={"context": tokens_of(wirer.beside, instances, dims, span)})
            component = build(Constructor(path, others, parts.scope, span), ("embed",), dims, span, parts.scope)
            if component.of_images is not None and component.of_images != image:
                reads = "reads images" if image else "reads no images: it states no `input`"
                raise fail("IMG002", f"`{path}` cannot stand in a model that {reads}", span)
            if component.takes != len(inputs):
                raise fail("TYP013", f"`{path}` takes {component.takes} values of the formula, and {len(inputs)} come in", span)
            width = width_of(inputs[0], instances, span) if inputs else component.width
        if component is None:
            return None
        if name in instances:
            raise fail("NAM005", f"`{path}` is called twice in the embedding", span, "give each instance a label of its own")
        instances[name] = Instance(path=name, component=component, width=width)
        return name

    wirer = Wirer(parts.scope, instance, joins=image)
    value = wirer.wire(field)
    if image:
        parts.dims = parts.dims.model_copy(update={"context": tokens_of(value, instances, parts.dims, field.span)})
        check_patches(value, instances, parts.dims, field.span)
    if (width := width_of(value, instances, field.span)) != parts.dims.dim:
        raise fail("SHP004", f"the embedding is {width} wide, and the model {parts.dims.dim}", field.span, "`project(...)` changes the width")
    return Embedding(value=value, instances=tuple(instances.values()))


def _labelled(parts: Parts, path: str, field: str, width: int) -> Component | None:
    """A norm that the formula calls by a label, for values of this width."""
    name = path if path in parts.body.fields else field
    parts.scope.used |= {path, field}
    return parts.component(name, ("norm",), parts.scope, parts.dims.model_copy(update={"dim": width}))
