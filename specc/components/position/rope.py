"""Rotary position embedding (Su et al., 2021, https://arxiv.org/abs/2104.09864)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from specc.components.position.base import Position
from specc.components.registry import slot
from specc.components.scaling.base import inverse
from specc.ir.node import Dims, Finding, Input, structural

AXES = Input("mrope_position_ids", (3, "B", "T"), values="positions", about="by time, height and width")
Pairs = Annotated[int, Field(ge=0)]


class Rope(Position):
    """Turns pairs of channels of q and k by an angle that grows with position: position * theta^(-2i / rotated).

    layout half pairs channel i with i + rotated/2 (GPT-NeoX, Llama); interleaved pairs 2i with 2i + 1 (GPT-J, the paper).
    partial: how many channels of each head are turned, the first ones; the others pass unchanged.
    backward: the other way round (nanochat).
    sections: how many pairs, in their order, turn by the position in time, in height and in width, which the caller gives each
    token (Wang et al., 2024, section 2.1, https://arxiv.org/abs/2409.12191). For text all three are the same.
    """

    native: ClassVar[dict[str, str]] = dict.fromkeys(("kind", "layout", "partial"), "RotaryEmbedding")
    kind: Literal["rope"] = "rope"
    theta: float = Field(default=10_000.0, gt=0)
    layout: Literal["half", "interleaved"] = structural("half")
    partial: int | None = Field(default=None, gt=0)
    backward: bool = structural(False)
    sections: tuple[Pairs, Pairs, Pairs] | None = structural(None)
    scaling: slot("scaling", optional=True) = None

    def shrunk(self, plan) -> Rope:
        partial = None if self.partial is None else plan.head_width(self.partial)
        scaling = None if self.scaling is None else self.scaling.shrunk(plan)
        return self.replaced(partial=partial, scaling=scaling, sections=self.sections and _in_proportion(self.sections, plan))

    def width(self, head_dim: int) -> int:
        """How many channels are turned."""
        return self.partial or head_dim

    def inert(self, beside) -> tuple[str, ...]:
        """A single pair turns by the position itself: there is nothing to order, and no slower pair."""
        width = self.width(beside.head_dim)
        of_scaling = () if self.scaling is None else self.scaling.inert_at(self.theta, width)
        return (*(("theta", "layout") if width == 2 else ()), *(f"scaling.{name}" for name in of_scaling))

    def inputs(self) -> tuple[Input, ...]:
        return () if self.sections is None else (AXES,)

    def check(self, dims: Dims) -> Iterator[Finding]:
        if self.sections is not None and dims.image is not None:
            yield Finding("sections", "CAP009", "the caller gives tokens their positions on each axis, and this model reads images")
        if self.sections is not None and self.scaling is not None and self.scaling.by_longest:
            yield Finding("sections", "CAP009", f"`{self.scaling.kind}` goes by the largest position, and `sections` have three of them")
        if self.scaling is not None:
            yield from self.scaling.check_base(self.theta)

    def check_heads(self, heads: int, head_dim: int) -> Iterator[Finding]:
        width = self.width(head_dim)
        if width % 2:
            yield Finding("partial", "SHP002", f"rope turns pairs of channels, and {width} is odd")
        if width > head_dim:
            yield Finding("partial", "SHP002", f"rope turns {width} channels, and a head has only {head_dim}")
        if self.sections is not None and 2 * sum(self.sections) != width:
            yield Finding(
                "sections",
                "SHP002",
                f"the sections hold {sum(self.sections)} pairs of channels, and rope turns {width} channels: {width // 2} pairs",
            )
        if self.scaling is not None:
            yield from self.scaling.check_width(width)

    def tables(self, g, frame, width: int):
        """-> cos, sin [B, T, rotated / 2]"""
        turned = self.width(width)
        if self.scaling is None:
            frequencies, amplitude = g.constant(inverse(self.theta, turned)), 1.0
        else:
            frequencies, amplitude = self.scaling.frequencies(g, frame, self.theta, turned), self.scaling.amplitude()
        angles = self._angles(g, frame, frequencies)
        made = [g.op("Cos", angles), g.op("Sin", angles)]
        if self.backward:
            made[1] = g.op("Neg", made[1])
        if amplitude != 1:
            made = [g.op("Mul", x, g.constant(amplitude, "float32")) for x in made]
        return g.cast(made[0]), g.cast(made[1])

    def _angles(self, g, frame, frequencies):
        """-> [B, T, rotated / 2]"""
        if self.sections is None:
            return g.op("Mul", frame.position_column(), frequencies)
        position = g.op("Unsqueeze", g.op("Cast", frame.wanted(AXES), to="float32"), g.constant([3], "int64"))  # [3, B, T, 1]
        parts = g.ops("Split", g.op("Mul", position, frequencies), g.constant(list(self.sections), "int64"), axis=3, outputs=3)
        return g.op("Concat", *(g.op("Gather", part, g.integer(axis), axis=0) for axis, part in enumerate(parts)), axis=2)

    def rotate(self, g, q, k, heads: int, kv_heads: int, width: int, tables):
        options = {"interleaved": int(self.layout == "interleaved")}
        if self.partial is not None and self.partial != width:
            options["rotary_embedding_dim"] = self.partial
        q = g.op("RotaryEmbedding", q, *tables, num_heads=heads, **options)
        return q, None if k is None else g.op("RotaryEmbedding", k, *tables, num_heads=kv_heads, **options)

    def score_factor(self) -> float:
        return 1.0 if self.scaling is None else self.scaling.score_factor()


def _in_proportion(sections: tuple[int, ...], plan) -> tuple[int, ...]:
    """Sections of the small head, each to the others as it was as nearly as whole pairs allow."""
    pairs, ends = plan.head_width(2 * sum(sections)) // 2, [0]
    for n in range(len(sections)):
        ends.append(round(pairs * sum(sections[: n + 1]) / sum(sections)))
    return tuple(end - start for start, end in zip(ends, ends[1:], strict=False))
