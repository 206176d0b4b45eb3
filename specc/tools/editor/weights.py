"""The left sides that a weights map may have: the paths of a model's parameters."""

from __future__ import annotations

from specc.ir.model import Model


def parameter_paths(model: Model) -> list[str]:
    """`embed.tokens`, `layers[i].norm.attention`, `layers[i].attention.q`: parts that hold a weight, each once."""
    found: dict[str, None] = {}
    for stack in model.stacks:
        prefix = f"{stack.name}." if stack.name else ""
        for part in stack.embedding.instances:
            for parameter in part.parameters(stack.dims):
                found[prefix + _holder(part.path, parameter.name)] = None
        for layer in {id(layer): layer for layer in stack.layers}.values():
            for part in layer.instances:
                for parameter in part.parameters(stack.dims):
                    found[f"{prefix}layers[i].{_holder(part.path, parameter.name)}"] = None
        if stack.final_norm is not None and stack.final_norm.parameters(stack.dims):
            found[f"{prefix}final_norm"] = None
    for head in model.heads:
        for parameter in head.parameters(model.stack.dims):
            found[_holder(head.path, parameter.name)] = None
    return list(found)


def _holder(path: str, parameter: str) -> str:
    """The part that a weight or bias belongs to; experts are numbered by `e`."""
    parts = parameter.split(".")
    if parts[-1] in ("weight", "bias"):
        parts = parts[:-1]
    return ".".join([path, *parts]).replace(".experts.0.", ".experts[e].")
