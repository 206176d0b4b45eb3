"""How a published checkpoint names and lays out this model's parameters."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from specc.ir.node import Node


class Tensor(Node):
    """A tensor of the checkpoint. `names` are alternatives, tried in order; `{i}` stands for a layer's number.

    The root is put in front, except of a name that begins with `/`.
    """

    op: Literal["tensor"] = "tensor"
    names: tuple[str, ...]


def spellings(name: str, root: str) -> tuple[str, ...]:
    """What a tensor may be called in a file: under the root, then bare. `/name` is whole as it stands: the root never applies."""
    return (name[1:],) if name.startswith("/") else tuple(dict.fromkeys((root + name, name)))


class Transpose(Node):
    """Stored as [in, out]; vectors pass through."""

    op: Literal["transpose"] = "transpose"
    of: Source


class Stacked(Node):
    """One tensor for all experts, in order along its first axis; `flat` where their rows simply follow one another.

    The last placeholder of the rule's own key is the expert's number.
    """

    op: Literal["stacked"] = "stacked"
    of: Source
    flat: bool = False


class Batched(Node):
    """Stored with one axis more, of length one, in front."""

    op: Literal["batched"] = "batched"
    of: Source


class Row(Node):
    """Stored as a vector what is a matrix of a single row."""

    op: Literal["row"] = "row"
    of: Source


class Gathered(Node):
    """Each row in a tensor of its own, whose name holds the row's number for `{r}`."""

    op: Literal["gathered"] = "gathered"
    of: Source


class Fused(Node):
    """Several parts along the rows of one tensor, in `order`.

    With groups n, n times in turn a share of each part; with groups 0, a row of each part in turn.
    """

    op: Literal["fused"] = "fused"
    of: Source
    order: tuple[str, ...]
    groups: int = 1


Source = Annotated[Tensor | Transpose | Stacked | Batched | Row | Gathered | Fused, Field(discriminator="op")]


class WeightRule(Node):
    """`own`: a state-dict key, or its beginning up to a component (then `.weight` and `.bias` follow on both sides)."""

    own: str
    source: Source


class WeightMap(Node):
    """One published layout. `root` holds alternatives for the beginning of every name; `ignore` patterns of no use."""

    name: str
    root: tuple[str, ...] = ("",)
    ignore: tuple[str, ...] = ()
    rules: tuple[WeightRule, ...] = ()


for _model in (Transpose, Stacked, Batched, Gathered, Row, Fused, WeightRule):
    _model.model_rebuild()
