"""Expert choice routing (Zhou et al., 2022, https://arxiv.org/abs/2202.09368, section 3.2)."""

from __future__ import annotations

from typing import ClassVar, Literal

from specc.components.router.base import Router


class ExpertChoice(Router):
    """Each of E experts takes the tokens whose softmax over experts is largest for it: top_k in E of all tokens of a call.

    So a token passes through top_k experts on average, through any number of them or none. The number of tokens is rounded
    down, and at least one. Padding is among the tokens. What a token gives depends on every other token of the call, later
    ones too: a causal model that is trained so has seen what it should predict (section 5 of the paper).
    """

    kind: Literal["expert_choice"] = "expert_choice"
    by_longest: ClassVar[bool] = True
    experts_choose: ClassVar[bool] = True

    def lower(self, g, x, experts: int, top_k: int, call=None):
        """-> weights [E, k] and the tokens' numbers [E, k]"""
        scores = g.op("Softmax", g.op("Gemm", x, g.parameter("weight"), transB=1), axis=-1)  # [N, E]
        tokens = g.op("Gather", g.op("Shape", x), g.constant([0], "int64"))
        share = g.op("Div", g.op("Mul", tokens, g.integer(top_k)), g.integer(experts))
        return g.best(g.op("Transpose", scores, perm=[1, 0]), g.op("Max", share, g.integer(1)))
