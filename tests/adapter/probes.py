"""For each field of each method two adapters that differ in it alone, over one of the small models."""

from __future__ import annotations

from tests.adapter.models import ENCODER, TINY

Q = "targets: [attention.q, ffn.down]"
DOWN = "activation: gelu, after: [ffn]"
PROBES: dict[str, dict[str, tuple[str, str, str]]] = {
    "lora": {
        "rank": (TINY, f"lora(rank: 2, alpha: 4, {Q})", f"lora(rank: 3, alpha: 4, {Q})"),
        "alpha": (TINY, f"lora(rank: 2, alpha: 4, {Q})", f"lora(rank: 2, alpha: 5, {Q})"),
        "targets": (TINY, "lora(rank: 2, targets: [attention.q])", "lora(rank: 2, targets: [attention.o])"),
        "layers": (TINY, f"lora(rank: 2, {Q}, layers: [0])", f"lora(rank: 2, {Q}, layers: [1])"),
        "rank_stabilised": (TINY, f"lora(rank: 3, {Q})", f"lora(rank: 3, rank_stabilised: true, {Q})"),
        "dora": (TINY, f"lora(rank: 3, {Q})", f"lora(rank: 3, dora: true, {Q})"),
    },
    "ia3": {
        "after": (TINY, "ia3(after: [attention.k])", "ia3(after: [attention.v])"),
        "before": (TINY, "ia3(before: [ffn.down])", "ia3(before: [attention.o])"),
        "layers": (TINY, "ia3(after: [attention.v, ffn.down], layers: [0])", "ia3(after: [attention.v, ffn.down], layers: [1])"),
    },
    "bottleneck": {
        "dim": (ENCODER, f"bottleneck(dim: 3, {DOWN})", f"bottleneck(dim: 4, {DOWN})"),
        "activation": (ENCODER, f"bottleneck(dim: 3, {DOWN})", "bottleneck(dim: 3, activation: relu, after: [ffn])"),
        "after": (ENCODER, f"bottleneck(dim: 3, {DOWN})", "bottleneck(dim: 3, activation: gelu, after: [block])"),
        "parallel": (ENCODER, f"bottleneck(dim: 3, {DOWN})", f"bottleneck(dim: 3, {DOWN}, parallel: true)"),
        "scale": (ENCODER, f"bottleneck(dim: 3, {DOWN})", f"bottleneck(dim: 3, {DOWN}, scale: 0.5)"),
        "layers": (ENCODER, f"bottleneck(dim: 3, {DOWN}, layers: [0])", f"bottleneck(dim: 3, {DOWN}, layers: [1])"),
    },
    "prefix": {
        "length": (TINY, "prefix(length: 2)", "prefix(length: 3)"),
        "reparameterised": (TINY, "prefix(length: 2)", "prefix(length: 2, reparameterised: 5)"),
    },
    "prompt": {"length": (TINY, "prompt(length: 2)", "prompt(length: 3)")},
}
# fields that a method has from all methods and cannot take: what stands in front is the same in all layers
REFUSED = {("prefix", "layers"), ("prompt", "layers")}
