"""SHP: sizes that do not fit one another."""

from specc.diagnostics.codes import Code
from specc.diagnostics.table.example import layers, spec

_LONGROPE = "rope(theta: 10_000, scaling: longrope(short: {0}, long: {0}, original: 16))"
_EXPERTS = "moe(experts: 4, top_k: {0}, expert: gated(hidden: 32, activation: silu), router: softmax)"


def _two(heads: int) -> str:
    """A layer with two attentions."""
    block = "block two(x) {\n  final_norm = none\n  x = x + attention(norm(x))\n  x = x + attention.other(norm(x))\n  x = x + ffn(norm(x))\n}"
    return f"{spec(f'attention.other = attention(heads: {heads}, head_dim: 8)', position='alibi', block='two')}\n{block}\n"


def codes() -> list[Code]:
    return [
        Code(
            "SHP001",
            "a width that does not divide",
            "Without `head_dim` the width is shared evenly by the heads.",
            spec(attention="attention(heads: 3)"),
            spec(attention="attention(heads: 3, head_dim: 8)"),
        ),
        Code(
            "SHP002",
            "channels that do not pair",
            "Rotary and sinusoidal positions work on pairs of channels, within the width they have.",
            spec(position="rope(theta: 10_000, partial: 3)"),
            spec(position="rope(theta: 10_000, partial: 4)"),
        ),
        Code(
            "SHP003",
            "heads that cannot share keys",
            "Each key-value head serves the same number of query heads.",
            spec(attention="attention(heads: 4, kv_heads: 3)"),
            spec(attention="attention(heads: 4, kv_heads: 2)"),
        ),
        Code(
            "SHP004",
            "widths that do not meet",
            "The terms of a sum are equally wide, and the embedding is as wide as the model.",
            spec(embed="tokens(width: 8)", head="lm(tied: false)"),
            spec(embed="project(tokens(width: 8))", head="lm(tied: false)"),
        ),
        Code(
            "SHP005",
            "a tied head without its table",
            "A tied head reads the token table, so there must be one, and as wide as the head.",
            spec(embed="project(tokens(width: 8))", head="lm(tied: true)"),
            spec(embed="project(tokens(width: 8))", head="lm(tied: true, width: 8)"),
        ),
        Code(
            "SHP006",
            "layers that do not sum to the depth",
            "`layers` says which layer stands where, from the first to the last.",
            layers("layer local { mask = sliding(4) }", "layer global { mask = causal }", layers="[2 * local, global]", depth="4"),
            layers("layer local { mask = sliding(4) }", "layer global { mask = causal }", layers="[3 * local, global]", depth="4"),
        ),
        Code(
            "SHP007",
            "factors that do not match the channels",
            "longrope has one factor for each pair of channels that rope turns.",
            spec(position=_LONGROPE.format("[1.0, 2.0]")),
            spec(position=_LONGROPE.format("[1.0, 2.0, 3.0, 4.0]")),
        ),
        Code(
            "SHP008",
            "experts that do not add up",
            "A router chooses among the experts there are, and groups of experts are equally large.",
            spec(ffn=_EXPERTS.format(5)),
            spec(ffn=_EXPERTS.format(2)),
        ),
        Code(
            "SHP009",
            "attentions that differ in heads",
            "A position scheme with a term for each head serves attentions with as many heads; one that scores contents, heads of one kind.",
            _two(3),
            _two(2),
        ),
        Code(
            "SHP010",
            "buckets that do not divide",
            "Half of the buckets of a direction hold one distance each, and `max_distance` lies beyond those.",
            spec(position="relative_bias(buckets: 7, max_distance: 16, bidirectional: false)"),
            spec(position="relative_bias(buckets: 8, max_distance: 16, bidirectional: false)"),
        ),
        Code(
            "SHP011",
            "layers that share weights and differ",
            "`same(...)` is one set of weights used several times, and so one size and one number for all of its layers.",
            layers("layer one { ffn = mlp(hidden: 16 * (layer.index + 1), activation: gelu) }", layers="[2 * same(one)]"),
            layers("layer one {}", layers="[2 * same(one)]"),
        ),
        Code(
            "SHP012",
            "keys and values that cannot be read",
            "A layer with `kv_from` reads them as an earlier layer made them: of as many and as wide heads, under its position scheme, within its mask.",
            layers("layer one {}", "layer two { kv_from = one }", layers="[two, one]"),
            layers("layer one {}", "layer two { kv_from = one }", layers="[one, two]"),
        ),
    ]
