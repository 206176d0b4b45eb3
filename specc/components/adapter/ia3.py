"""(IA)3, infused adapter by inhibiting and amplifying inner activations (Liu et al., 2022, https://arxiv.org/abs/2205.05638)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from specc.components.adapter.base import Method, Published, Site, Targets, paths
from specc.ir.node import Dims, Finding, Parameter


class IA3(Method):
    """A learned vector of ones at first, by which what comes out of the maps of `after`, or goes into those of `before`, is multiplied.

    The paper scales keys and values, and what goes into the feed-forward network's last map:
    ia3(after: [attention.k, attention.v], before: [ffn.down]). A result is scaled with its bias.
    """

    kind: Literal["ia3"] = "ia3"
    after: Targets = paths(())
    before: Targets = paths(())

    def check(self, dims: Dims) -> Iterator[Finding]:
        if not self.after and not self.before:
            yield Finding("after", "ADP001", "`ia3` names no map, neither `after:` nor `before:`", "add `after: [attention.k, attention.v]`, for one")

    def aims(self) -> Iterator[tuple[tuple[str, ...], bool]]:
        yield from ((target, False) for target in self.after)
        yield from ((target, True) for target in self.before)

    def refuses(self, site: Site) -> str | None:
        return "a table of rows is not scaled" if site.table else None

    def name(self, site: Site) -> str:
        return "input" if site.on_input else "output"

    def held(self, site: Site) -> tuple[Parameter, ...]:
        return (Parameter(self.name(site), (site.width if site.on_input else site.rows,), "ones"),)

    def published(self, site: Site) -> dict[str, Published]:
        return {self.name(site): Published("ia3_l", None, (1, -1)) if site.on_input else Published("ia3_l", 0, (-1, 1))}

    def merged(self, site: Site, number: int, weight, bias, own: dict[str, Any]):
        """The weight [out, in] and the bias of a slot, scaled."""
        scale = own[self.name(site)]
        if site.on_input:
            return weight * scale, bias
        first, end = site.span(number)
        return weight * scale[first:end, None], None if bias is None else bias * scale[first:end]

    def taken(self, site: Site) -> dict[str, tuple[tuple[int | str, ...], float]]:
        if site.on_input:
            return {"input": ((site.width,), 1.0)}
        return {self._of(site, number): ((slot.rows,), 1.0) for number, slot in enumerate(site.slots)}

    def given(self, site: Site, own: dict[str, Any], weight, bias) -> dict[str, Any]:
        if site.on_input:
            return {"input": own["input"]}
        return {self._of(site, n): own["output"][slice(*site.span(n))] for n in range(len(site.slots))}

    def _of(self, site: Site, number: int) -> str:
        return "output" if len(site.slots) == 1 else f"output.{number}"

    def lower(self, g, site: Site, number: int, x, y):
        """y [N, out], or what goes into the map [N, in] -> the same"""
        return g.op("Mul", y, g.given("input" if site.on_input else self._of(site, number)))
