"""Routers that keep the top k: what the kinds share, by hand (DeepSeek-AI, 2024, DeepSeek-V3, section 2.1.2, equations 12 to 16).

Groups are DeepSeek-V2's (section 2.2.2) where a group counts as its best expert, DeepSeek-V3's where as the sum of its best two.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.components.probe import Probe, spec


def choose(c, w, x, top_k: int, activation: Callable[[list[float]], list[float]]) -> list[tuple[int, float]]:
    """The chosen experts of one token, best first, each with its weight."""
    logits = [float(row @ x) for row in w["weight"]]
    if c.bias:
        logits = [logit + float(b) for logit, b in zip(logits, w["bias"], strict=True)]
    if getattr(c, "order", "") == "top_k_first":
        chosen = _best(logits, range(len(logits)), top_k)
        weights = activation([logits[e] for e in chosen])
    else:
        scores = activation(logits)
        wanted = [s + float(b) for s, b in zip(scores, w["correction"], strict=True)] if c.bias_correction else scores
        chosen = _best(wanted, _staying(c, wanted), top_k)
        weights = [scores[e] for e in chosen]
    if c.normalize:
        total = max(sum(weights) + c.normalize_eps, c.normalize_min)
        weights = [weight / total for weight in weights]
    return [(expert, c.scale * weight) for expert, weight in zip(chosen, weights, strict=True)]


def _best(values: list[float], among, count: int) -> list[int]:
    return sorted(among, key=lambda e: -values[e])[:count]


def _staying(c, wanted: list[float]) -> list[int]:
    """The experts of the groups that stay in the race."""
    if c.groups is None:
        return list(range(len(wanted)))
    size = len(wanted) // c.groups
    groups = [list(range(g * size, (g + 1) * size)) for g in range(c.groups)]
    counted = 2 if c.group_score == "top_2_sum" else 1
    totals = [sum(sorted((wanted[e] for e in group), reverse=True)[:counted]) for group in groups]
    return [e for g in _best(totals, range(c.groups), c.top_groups) for e in groups[g]]


def probes(kind: str) -> dict[str, Probe | tuple[Probe, ...]]:
    """The fields that every such router has."""

    def moe(rest: str = "", experts: int = 8, top_k: int = 2) -> str:
        return spec(ffn=f"moe(experts: {experts}, top_k: {top_k}, expert: gated(hidden: 6, activation: silu), router: {kind}({rest}))")

    grouped = "groups: 4, top_groups: 2"
    return {
        "weight_on": (
            Probe(moe(), moe("weight_on: input")),
            Probe(moe("normalize: true, scale: 2"), moe("normalize: true, scale: 2, weight_on: input")),
        ),
        "bias": (Probe(moe(), moe("bias: true")), Probe(moe("normalize: true"), moe("normalize: true, bias: true"))),
        "bias_correction": (
            Probe(moe(), moe("bias_correction: true")),
            Probe(moe(f"normalize: true, {grouped}"), moe(f"normalize: true, bias_correction: true, {grouped}")),
        ),
        "groups": (
            Probe(moe(), moe("groups: 4, top_groups: 1"), follows=("top_groups",)),
            Probe(moe("groups: 4, top_groups: 1"), moe("groups: 2, top_groups: 1")),
        ),
        "top_groups": (
            Probe(moe("groups: 4, top_groups: 1"), moe(grouped)),
            Probe(moe("groups: 4, top_groups: 1, bias_correction: true"), moe(f"{grouped}, bias_correction: true")),
        ),
        "group_score": (
            Probe(moe("groups: 2, top_groups: 1"), moe("groups: 2, top_groups: 1, group_score: top_2_sum")),
            Probe(
                moe("groups: 2, top_groups: 1, bias_correction: true"),
                moe("groups: 2, top_groups: 1, bias_correction: true, group_score: top_2_sum"),
            ),
        ),
        "normalize": (Probe(moe(), moe("normalize: true")), Probe(moe(top_k=3), moe("normalize: true", top_k=3))),
        "normalize_eps": (
            Probe(moe("normalize: true"), moe("normalize: true, normalize_eps: 0.1")),
            Probe(moe("normalize: true, normalize_eps: 0.2, scale: 2"), moe("normalize: true, normalize_eps: 0.1, scale: 2")),
        ),
        "normalize_min": (
            Probe(moe("normalize: true"), moe("normalize: true, normalize_min: 4.0")),
            Probe(
                moe("normalize: true, normalize_min: 3.0, normalize_eps: 0.1"),
                moe("normalize: true, normalize_min: 5.0, normalize_eps: 0.1"),
            ),
        ),
        "scale": (Probe(moe(), moe("scale: 2.5")), Probe(moe("normalize: true, scale: 0.5"), moe("normalize: true, scale: 2.5"))),
    }
