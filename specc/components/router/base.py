"""What routers have in common: how they are trained, and the linear map, groups, bias, normalisation of those that keep the top k."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from specc.ir.node import Component, Dims, Finding, Parameter, structural, training


class Router(Component):
    """Says which experts see which tokens.

    In training, jitter multiplies what the router reads (`jitter_at: layer`: what its experts read as well) by numbers drawn
    from 1 - jitter to 1 + jitter (Fedus et al., 2021, https://arxiv.org/abs/2101.03961), and z_loss times the mean square of the
    logits' log-sum-exp is added to the model's `aux_loss` (Zoph et al., 2022, https://arxiv.org/abs/2202.08906).
    """

    axis: ClassVar[str] = "router"
    experts_choose: ClassVar[bool] = False  # whether experts choose tokens: then what comes back is [E, k], and tokens' numbers
    by_sequence: ClassVar[bool] = False  # whether it reads x as [B, T, C], because tokens of a sequence compete
    drops: ClassVar[bool] = False  # whether the number of experts itself may come back, for none
    jitter: float = training(0.0, ge=0, lt=1)
    jitter_at: Literal["router", "layer"] = training("router")
    z_loss: float = training(0.0, ge=0)

    @property
    def weighs_input(self) -> bool:
        """Whether the weight multiplies what an expert reads, not what it makes."""
        return False

    @property
    def adds_loss(self) -> bool:
        return self.z_loss > 0

    def check_experts(self, experts: int, top_k: int) -> Iterator[Finding]:
        """What is wrong with it for this many experts."""
        if self.jitter_at != "router" and not self.jitter:
            yield Finding("jitter_at", "TYP005", "`jitter_at` is set, and there is no jitter")

    def size(self, experts: int, dims: Dims) -> tuple[Parameter, ...]:
        return (Parameter("weight", (experts, dims.dim)),)

    def fewer(self, experts: int, top_k: int) -> int:
        """How many experts show in a small model all that this many do."""
        return min(experts, max(4, top_k + 2))


class Chosen(Router):
    """A router by which tokens choose experts.

    In training, load_balance times E * sum(f_i * p_i) is added to the model's `aux_loss`: f_i is how many of the E experts'
    tokens chose expert i, over the number of tokens, p_i the mean of its probability (Fedus et al., 2021, equations 4 to 6).
    """

    load_balance: float = training(0.0, ge=0)

    @property
    def adds_loss(self) -> bool:
        return self.load_balance > 0 or self.z_loss > 0


class TopK(Chosen):
    """Logits = x W^T (+ bias); an activation turns them into scores, and the top k of the scores win.

    bias_correction adds a learned
    bias to the scores for the choice alone, not for the weights (DeepSeek-V3). With groups, experts stand in equal groups,
    only the best top_groups groups stay in the race, a group's score being its best expert's or the sum of its best two.
    normalize divides the weights by their sum, plus `normalize_eps` and at least `normalize_min` (ERNIE 4.5); scale
    multiplies them. weight_on input: the weight multiplies what the expert reads (Llama 4). A kind adds
    `score(g, logits)`: [N, n] -> scores [N, n].
    """

    weight_on: Literal["output", "input"] = structural("output")
    bias: bool = structural(False)
    bias_correction: bool = structural(False)
    groups: int | None = structural(None)
    top_groups: int | None = structural(None)
    group_score: Literal["max", "top_2_sum"] = structural("max")
    normalize: bool = structural(False)
    normalize_eps: float = Field(default=0.0, ge=0)
    normalize_min: float = Field(default=0.0, ge=0)
    scale: float = Field(default=1.0, gt=0)

    @property
    def top_k_first(self) -> bool:
        """Whether the choice is made among the logits, and only the chosen ones are scored."""
        return False

    @property
    def weighs_input(self) -> bool:
        return self.weight_on == "input"

    def inert(self, beside) -> tuple[str, ...]:
        """Every weight is above 0, and some experts let such a factor through as it is."""
        return ("weight_on",) if beside.expert.homogeneous() else ()

    def check_experts(self, experts: int, top_k: int) -> Iterator[Finding]:
        yield from super().check_experts(experts, top_k)
        if (self.groups is None) != (self.top_groups is None):
            yield Finding("groups", "TYP005", "`groups` and `top_groups` only mean something together")
        elif self.groups is not None and (self.groups < 1 or experts % self.groups or not 1 <= self.top_groups <= self.groups):
            yield Finding("groups", "SHP008", f"{experts} experts do not stand in {self.groups} groups of which {self.top_groups} stay")
        elif self.groups is not None and top_k > experts // self.groups * self.top_groups:
            yield Finding("groups", "SHP008", f"{self.top_groups} groups of {experts // self.groups} experts cannot offer {top_k}")
        if self.groups is None and self.group_score != "max":
            yield Finding("group_score", "TYP005", "`group_score` is set, and there are no groups")
        elif self.groups == experts and self.group_score == "top_2_sum":
            yield Finding("group_score", "SHP008", "a group of one expert has no best two", "`group_score: max` counts the best one")
        for name in ("normalize_eps", "normalize_min"):
            if getattr(self, name) and not self.normalize:
                yield Finding(name, "TYP005", f"`{name}` is set, and nothing is normalised")

    def size(self, experts: int, dims: Dims) -> tuple[Parameter, ...]:
        found = [*super().size(experts, dims)]
        if self.bias:
            found.append(Parameter("bias", (experts,), "zeros"))
        if self.bias_correction:
            found.append(Parameter("correction", (experts,), "zeros", "fixed"))
        return tuple(found)

    def fewer(self, experts: int, top_k: int) -> int:
        if self.groups is None:
            return super().fewer(experts, top_k)
        return self.groups * min(experts // self.groups, max(2, -(-top_k // self.top_groups) + 1))

    def lower(self, g, x, experts: int, top_k: int, call=None):
        logits = g.op("Gemm", x, g.parameter("weight"), *([g.parameter("bias")] if self.bias else []), transB=1)  # [N, E]
        if self.top_k_first:
            logits, chosen = g.best(logits, top_k)
            return self._weighted(g, self.score(g, logits)), chosen
        scores = self.score(g, logits)
        wanted = g.op("Add", scores, g.parameter("correction")) if self.bias_correction else scores
        if self.groups is not None:
            wanted = self._in_best_groups(g, wanted, experts)
        best, chosen = g.best(wanted, top_k)
        if wanted != scores:
            best = g.op("GatherElements", scores, chosen, axis=-1)
        return self._weighted(g, best), chosen

    def _weighted(self, g, weights):
        if self.normalize:
            total = g.op("ReduceSum", weights, g.constant([-1], "int64"), keepdims=1)
            if self.normalize_eps:
                total = g.op("Add", total, g.number(self.normalize_eps))
            if self.normalize_min:
                total = g.op("Max", total, g.number(self.normalize_min))
            weights = g.op("Div", weights, total)
        return weights if self.scale == 1 else g.op("Mul", weights, g.number(self.scale))

    def _in_best_groups(self, g, scores, experts: int):
        """Scores [N, E] with those of the groups that drop out set to minus infinity."""
        size = experts // self.groups
        grouped = g.reshape(scores, (-1, self.groups, size))
        best, _ = g.best(grouped, 2 if self.group_score == "top_2_sum" else 1)
        score = g.op("ReduceSum", best, g.constant([-1], "int64"), keepdims=0)  # [N, G]
        _, kept = g.best(score, self.top_groups)
        numbers = g.constant(list(range(self.groups)), "int64")
        hits = g.op("Equal", g.op("Unsqueeze", kept, g.constant([2], "int64")), numbers)  # [N, top, G]
        stays = g.op("ReduceMax", g.op("Cast", hits, to="int64"), g.constant([1], "int64"), keepdims=0)  # [N, G]
        stays = g.op("Cast", g.op("Unsqueeze", stays, g.constant([2], "int64")), to="bool")
        out = g.cast(g.constant(float("-inf"), "float32"))
        return g.reshape(g.op("Where", stays, grouped, out), (-1, experts))
