"""Which axes a place takes its variants from, and which component a call stands for."""

from __future__ import annotations

from specc.components.registry import AXES, OVER, SUBLAYERS, axes_of, axis_of_field, load, members
from specc.ir.node import Component
from specc.resolve.parts import OF_FAMILIES, RATES, SIZES
from specc.tools.editor.outline import Frame

OTHER_AXES = {"final_norm": ("norm",), "cross": ("attention",)}  # fields of a model that take variants of an axis of another name
PLAIN = (*SIZES, *RATES, *OF_FAMILIES, "block", "layers", "kv_from", "shared_tokens")  # fields that take no variant


def axes_of_field(path: str) -> tuple[str, ...]:
    """The axes whose variants a field takes; those of every sublayer for a name of the user's own."""
    name = path.partition(".")[0]
    if name in PLAIN:
        return ()
    return OTHER_AXES.get(name) or ((name,) if name in AXES else SUBLAYERS)


def axes_at(frame: Frame) -> tuple[str, ...]:
    """The axes whose variants may stand in a frame, at the statement or argument that it is reading."""
    for around in frame.outwards():
        if around.kind == "call":
            cls = component_of(around)
            if cls is None:
                continue
            name = argument_of(around, cls)
            axis = axis_of_field(cls, name) if name else None
            return (axis,) if axis and axis != "any" else ()
        if around.kind in ("block", "checks", "weights"):
            return ()
        if around.kind == "adapter":
            return OVER
        if around.kind in ("model", "layer", "encoder", "decoder"):
            return axes_of_field(around.statement) if around.statement else ()
    return ()


def component_of(frame: Frame) -> type[Component] | None:
    """The component that a call makes, so far as its name and place tell."""
    return None if frame.kind != "call" or frame.parent is None else component_named(frame.name, frame.parent)


def component_named(name: str, frame: Frame) -> type[Component] | None:
    """The component of this name in a frame: of the axis that belongs there, else of the only axis that has one."""
    if frame.section() is None or frame.section().kind in ("block", "checks", "weights"):
        return None
    axes = axes_at(frame)
    axis = next((axis for axis in axes if name in members(axis)), None) or next(iter(axes_of(name)), None)
    return load(axis, name) if axis else None


def argument_of(frame: Frame, cls: type[Component]) -> str | None:
    """The field that the argument at hand sets."""
    if frame.argument is not None:
        return frame.argument if frame.argument in cls.model_fields else None
    return next(iter(cls.positional[frame.position : frame.position + 1]), None)
