"""Attention: the sublayer in which tokens read from one another.

It offers `lower(g, x, call)`: x [N, C] -> [N, C], N all tokens of the batch in a row. The call brings the layer's
position scheme with its tables, its mask, and the keys and values kept so far.
"""

MEMBERS = {
    "attention": "attention:Attention",
    "differential": "differential:DifferentialAttention",
    "global_local": "global_local:GlobalLocalAttention",
    "mla": "mla:LatentAttention",
}
