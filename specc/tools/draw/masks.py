"""Which key a query sees, worked out by the mask's own formula on a small square of tokens."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from specc.ir.node import Component, Input

SIDE = 32  # tokens of the square


@dataclass(frozen=True, slots=True)
class MaskPicture:
    """`rows[q][k]`: whether query q sees key k. tokens: how many tokens of the model one side stands for, None where that is open."""

    rows: tuple[tuple[bool, ...], ...]
    tokens: int | None


def picture(mask: Component, context: int | None) -> MaskPicture | None:
    """A mask to scale: its windows take the share of the square that they have of the context, or of four windows where they are short.

    None where it uses an operation that only a back end knows.
    """
    import numpy as np

    reach = mask.reach
    tokens = context
    if reach is not None and (context is None or reach * 4 < context):
        tokens = 4 * reach
    shown = mask.shrunk(_Scale(SIDE / tokens)) if tokens else mask
    columns = np.arange(SIDE)
    try:
        visible = shown.visible(_Numbers(), columns[:, None], columns[None, :], _Frame())
    except (NotImplementedError, AttributeError):
        return None
    square = np.broadcast_to(np.ones((1, 1), bool) if visible is None else np.squeeze(visible), (SIDE, SIDE))
    return MaskPicture(tuple(tuple(bool(v) for v in row) for row in square), tokens)


@dataclass(frozen=True, slots=True)
class _Scale:
    """What a component asks for when it is made small (specc.tools.shrink.Plan): here only windows are."""

    scale: float

    def window(self, size: int) -> int:
        return max(1, round(size * self.scale)) if size else 0


class _Frame:
    """What a mask asks of the frame: no padding, two documents, a prefix of a quarter."""

    padding, total, new = 0, SIDE, SIDE

    def __init__(self) -> None:
        import numpy as np

        self.query = np.arange(SIDE)

    def wanted(self, wanted: Input) -> Any:
        import numpy as np

        if wanted.values == "beginning":
            return np.array([SIDE // 4])
        if wanted.values == "marks":
            return (np.arange(SIDE)[None, :] % (SIDE - 1) == 0).astype(int)
        return (np.arange(SIDE)[None, :] * 5 // (2 * SIDE)).astype(int)


class _Numbers:
    """The builder's operations on numpy arrays."""

    def op(self, name: str, *values: Any, **attributes: Any) -> Any:
        import numpy as np

        plain = {
            "Less": np.less, "LessOrEqual": np.less_equal, "Greater": np.greater, "GreaterOrEqual": np.greater_equal,
            "Equal": np.equal, "And": np.logical_and, "Or": np.logical_or, "Not": np.logical_not, "Add": np.add,
            "Sub": np.subtract, "Mul": np.multiply, "Div": np.floor_divide, "Mod": np.mod, "Where": np.where,
            "Abs": np.abs, "Min": np.minimum, "Max": np.maximum,
        }  # fmt: skip
        if name in plain:
            return plain[name](*values)
        if name == "Unsqueeze":
            return np.expand_dims(values[0], tuple(int(v) for v in values[1]))
        if name == "Gather":
            return np.take(values[0], values[1], axis=attributes.get("axis", 0))
        if name == "Cast":
            return np.asarray(values[0]).astype(attributes["to"])
        raise NotImplementedError(name)

    def integer(self, value: int) -> int:
        return value

    def constant(self, value: Any, dtype: str = "") -> Any:
        import numpy as np

        return np.asarray(value)

    def reshape(self, value: Any, shape: tuple[int, ...]) -> Any:
        import numpy as np

        return np.reshape(value, shape)

    @contextmanager
    def scope(self, name: str):
        yield
