"""Classification of the whole sequence (Devlin et al., 2018, section 4.1; Radford et al., 2018, section 3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from specc.components.head.base import Pool, Transformed, check_pools, pooled, with_leading
from specc.components.registry import slot
from specc.ir.node import Dims, Finding, Parameter, linear, structural, training, under


class Classify(Transformed):
    """A linear map to the classes from one vector per sequence: the first token's, the last real one's or their mean.

    mean_patches is the mean over an image's tokens behind the `leading` first ones; of a list of pools the vectors stand beside
    one another. A norm normalises the vector; with an activation it then passes dense_norm(activation(dense(vector))).
    """

    kind: Literal["classify"] = "classify"
    positional: ClassVar[tuple[str, ...]] = ("classes",)
    classes: int = Field(gt=0)
    pool: Pool | tuple[Pool, ...] = structural()
    leading: int = structural(0)
    norm: slot("norm", optional=True) = None
    bias: bool = structural(True)
    dropout: float = training(0.0, ge=0, lt=1)

    @classmethod
    def complete(cls, given: dict[str, Any], dims: Dims) -> dict[str, Any]:
        pool = given.get("pool")
        one = isinstance(pool, tuple) and len(pool) == 1
        return with_leading(given | {"pool": pool[0]} if one else given, dims)

    def check(self, dims: Dims) -> Iterator[Finding]:
        yield from super().check(dims)
        yield from check_pools(self.pools, self.leading, dims)
        if not self.pool or len(set(self.pools)) < len(self.pools):
            yield Finding("pool", "VAL004", "a list of pools names each once, and at least one")

    @property
    def pools(self) -> tuple[str, ...]:
        return self.pool if isinstance(self.pool, tuple) else (self.pool,)

    def parameters(self, dims: Dims) -> tuple[Parameter, ...]:
        width = dims.dim * len(self.pools)
        norm = () if self.norm is None else under("norm", self.norm.over(width))
        return norm + self.dense(width) + linear("classes", width, self.classes, self.bias)

    def shrunk(self, plan) -> Classify:
        return self.replaced(classes=plan.count(self.classes))

    def flops(self, dims: Dims, context: float) -> int:
        return 0

    def flops_per_sequence(self, dims: Dims) -> int:
        return 2 * sum(p.size for p in self.parameters(dims) if len(p.shape) == 2)

    def output_shape(self, name: str, dims: Dims) -> tuple[int | str, ...]:
        return ("batch", self.classes)

    def lower(self, g, x, call):
        x = pooled(g, call, call.frame.sequences(x), self.pools, self.leading)  # [B, C]
        if self.norm is not None:
            with g.scope("norm"):
                x = self.norm.lower(g, x)
        return {"logits": g.linear(self.transformed(g, x), "classes")}
