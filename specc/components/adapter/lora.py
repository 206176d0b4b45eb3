"""Low-rank adaptation (Hu et al., 2021, https://arxiv.org/abs/2106.09685)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from specc.components.adapter.base import Method, Published, Site, Targets, paths
from specc.ir.node import Dims, Parameter, structural, training


class LoRA(Method):
    """W x becomes W x + scale * B A x, with A [rank, in] and B [out, rank], which begins as zeros.

    scale is alpha / rank, or alpha / sqrt(rank) where rank_stabilised (Kalajdzievski, 2023, https://arxiv.org/abs/2312.03732).
    dora: each row of W + scale * B A is brought to a learned length (Liu et al., 2024, https://arxiv.org/abs/2402.09353).
    dropout is on x, in training. The maps of a fused target share A.
    """

    kind: Literal["lora"] = "lora"
    positional: ClassVar[tuple[str, ...]] = ("rank",)
    rank: int = Field(gt=0, le=65_536)
    alpha: float = Field(gt=0)
    targets: Targets = paths()
    rank_stabilised: bool = False
    dora: bool = structural(False)
    dropout: Annotated[float, Field(ge=0, lt=1)] = training(0.0)

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        rank = given.get("rank")
        return {"alpha": rank, **given} if isinstance(rank, int) and rank > 0 else given

    @property
    def scale(self) -> float:
        return self.alpha / (self.rank**0.5 if self.rank_stabilised else self.rank)

    @property
    def whole(self) -> bool:
        return self.dora

    def refuses(self, site: Site) -> str | None:
        return "a table of rows has no DoRA here" if self.dora and site.table else None

    def held(self, site: Site) -> tuple[Parameter, ...]:
        a = Parameter("a", (self.rank, site.rows if site.table else site.width))
        b = Parameter("b", (site.width if site.table else site.rows, self.rank), "zeros")
        return (a, b, Parameter("magnitude", (site.rows,))) if self.dora else (a, b)

    def published(self, site: Site) -> dict[str, Published]:
        if site.table:
            return {"a": Published("lora_embedding_A"), "b": Published("lora_embedding_B")}
        names = {"a": Published("lora_A.weight"), "b": Published("lora_B.weight", 0)}
        return names | ({"magnitude": Published("lora_magnitude_vector", 0)} if self.dora else {})

    def merged(self, site: Site, number: int, weight, bias, own: dict[str, Any]):
        """The weight [out, in] and the bias of a slot with the update in them; `own` as `held` names it. Arrays of numpy."""
        import numpy as np

        if site.table:
            return weight + self.scale * (own["b"] @ own["a"]).T, bias
        first, end = site.span(number)
        new = weight + self.scale * (own["b"][first:end] @ own["a"])
        if self.dora:
            new = new * (own["magnitude"][first:end] / np.linalg.norm(new, axis=1))[:, None]
        return new, bias

    # ---- ONNX: what a graph takes, so that one graph serves every rank and every adapter of these targets

    def taken(self, site: Site) -> dict[str, tuple[tuple[int | str, ...], float]]:
        """The inputs of the graph at a site: their extents, `rank` the open one, and the number that fills the neutral ones."""
        found: dict[str, tuple[tuple[int | str, ...], float]] = {"a": (("rank", site.rows if site.table else site.width), 0.0)}
        for number, slot in enumerate(site.slots):
            end = "" if len(site.slots) == 1 else f".{number}"
            found[f"b{end}"] = ((site.width if site.table else slot.rows, "rank"), 0.0)
            if self.dora:
                found[f"gain{end}"] = ((slot.rows,), 1.0)
                if slot.bias:
                    found[f"shift{end}"] = ((slot.rows,), 0.0)
        return found

    def given(self, site: Site, own: dict[str, Any], weight, bias) -> dict[str, Any]:
        """Their values for these weights: the scale is in B, and DoRA's lengths in a gain on the map's own result.

        weight, bias: functions of a slot's number. With g the row's gain, g (W + s B A) x + c is g (W x + c) + (1 - g) c + (g s B) A x.
        """
        import numpy as np

        found = {"a": own["a"]}
        for number, slot in enumerate(site.slots):
            end = "" if len(site.slots) == 1 else f".{number}"
            first, last = (0, site.width) if site.table else site.span(number)
            found[f"b{end}"] = self.scale * own["b"][first:last]
            if self.dora:
                lengths = np.linalg.norm(weight(number) + found[f"b{end}"] @ own["a"], axis=1)
                gain = own["magnitude"][first:last] / lengths
                found |= {f"b{end}": gain[:, None] * found[f"b{end}"], f"gain{end}": gain}
                if slot.bias:
                    found[f"shift{end}"] = (1 - gain) * bias(number)
        return found

    def lower(self, g, site: Site, number: int, x, y):
        """x [N, in] (of a table: row numbers [N]), y [N, out] the map's own result -> [N, out]"""
        end = "" if len(site.slots) == 1 else f".{number}"
        if site.table:
            narrow = g.op("Gather", g.op("Transpose", g.given("a"), perm=(1, 0)), x)
        else:
            narrow = g.once("narrow", x, lambda: g.op("Gemm", x, g.given("a"), transB=1))
        if self.dora:
            y = g.op("Mul", y, g.given(f"gain{end}"))
            if site.slots[number].bias:
                y = g.op("Add", y, g.given(f"shift{end}"))
        return g.op("Gemm", narrow, g.given(f"b{end}"), y, transB=1)
