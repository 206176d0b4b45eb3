"""What the methods of an adapter have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import Field

from specc.ir.node import Component, Parameter


@dataclass(frozen=True, slots=True)
class Published:
    """What peft calls a tensor under its module's name, the axis over which a fused module's rows run, and its extents there."""

    suffix: str
    axis: int | None = None
    extents: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """A linear map or a table of the model: its place in the state dict, the rows of its weight, whether it has a bias."""

    key: str
    rows: int
    bias: bool = False


@dataclass(frozen=True, slots=True)
class Site:
    """A place where a method acts: one slot, or several (`layers.0.attention.q+k+v`) that read the same input [N, width].

    table: the slot's rows are read by number, and `width` is the width of a row. on_input: what goes into the slots is meant,
    and not what comes out. A sublayer or a layer has no slots. Where keys and values are meant, `heads` and `head_dim` are theirs.
    """

    key: str
    width: int
    slots: tuple[Slot, ...] = ()
    table: bool = False
    on_input: bool = False
    heads: int = 0
    head_dim: int = 0
    obstacle: str | None = None  # why nothing can stand in front of the tokens here

    @property
    def rows(self) -> int:
        """Rows of all slots together."""
        return sum(slot.rows for slot in self.slots)

    def span(self, number: int) -> tuple[int, int]:
        """First and last-but-one row of a slot among those of all."""
        first = sum(slot.rows for slot in self.slots[:number])
        return first, first + self.slots[number].rows


def paths(default: Any = ...) -> Any:
    """A field that holds places of a model: roles (`attention.q`), patterns ("layers.0.*.q"), or several roles as `fused(...)`."""
    return Field(default=default, json_schema_extra={"paths": True, "structural": True})


Targets = tuple[tuple[str, ...], ...]  # each target one path, or the parts of a fused one


class Method(Component):
    """Base of the axis. A method says where it acts and what it holds there; the back ends lay it over the model.

    place: what it acts on: `map` the linear maps and tables that `targets` names, `call` the results of the sublayers
    that `after` names, `keys` the keys and values of every attention, `tokens` the embedded tokens.
    """

    axis: ClassVar[str] = "adapter"
    place: ClassVar[Literal["map", "call", "keys", "tokens"]] = "map"
    layers: tuple[int, ...] | None = None

    def aims(self) -> Iterator[tuple[tuple[str, ...], bool]]:
        """Every target, and whether what goes into its maps is meant."""
        return ((target, False) for target in self.targets)

    def held(self, site: Site) -> tuple[Parameter, ...]:
        """What it holds at a site; names are relative to `site.key` and its own kind."""
        raise NotImplementedError

    def shared(self, found: list[Site]) -> tuple[Parameter, ...]:
        """What it holds once for all its sites; names are relative to its kind."""
        return ()

    def settled(self, found: list[Site], tensors: dict[str, Any]) -> dict[str, Any]:
        """The adapter's tensors without what only training needs."""
        return tensors

    def published(self, site: Site) -> dict[str, Published]:
        """How peft stores each of these tensors; empty where it has no such method."""
        return {}

    def unpacked(self, found: list[Site], tensors: dict[str, Any]) -> dict[str, Any] | None:
        """The adapter's tensors for all sites at once, out of peft's; None where each site has tensors of its own there."""
        return None

    def packed(self, found: list[Site], tensors: dict[str, Any]) -> dict[str, Any] | None:
        """The way back."""
        return None

    def refuses(self, site: Site) -> str | None:
        """Why it cannot act at this site, if it cannot."""
        return None

    @property
    def whole(self) -> bool:
        """Whether it makes a map's result anew, so that nothing else can act on the same map."""
        return False
