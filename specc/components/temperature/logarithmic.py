"""Queries that grow with the logarithm of their position (Nakanishi, 2025, https://arxiv.org/abs/2501.19399; Llama 4, Ministral 3)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from specc.ir.node import Component, structural


class Logarithmic(Component):
    """1 + scale * ln(1 + floor((p + first) / every)), in steps of `every` tokens.

    of: p is the query's position, which padding takes no part in, or its column, which counts every token of the row.
    """

    axis: ClassVar[str] = "temperature"
    kind: Literal["logarithmic"] = "logarithmic"
    scale: float
    every: int = Field(gt=0)
    first: int = Field(default=0, ge=0)
    of: Literal["positions", "columns"] = structural("positions")

    @property
    def by_columns(self) -> bool:
        return self.of == "columns"

    def shrunk(self, plan) -> Logarithmic:
        return self.replaced(every=plan.window(self.every))

    def factor(self, g, frame):
        count = frame.positions if self.of == "positions" else frame.query
        steps = g.op("Div", g.op("Add", count, g.integer(self.first)), g.integer(self.every))
        grown = g.op("Log", g.op("Cast", g.op("Add", steps, g.integer(1)), to="float32"))
        factor = g.op("Add", g.op("Mul", grown, g.constant(self.scale, "float32")), g.constant(1.0, "float32"))
        return g.cast(g.op("Unsqueeze", factor, g.constant([-1], "int64")))
