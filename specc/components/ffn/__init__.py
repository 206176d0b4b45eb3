"""The feed-forward sublayer, applied to each token on its own.

It offers `lower(g, x, call)`: x [N, C] -> [N, C], N all tokens of the batch in a row.
"""

MEMBERS = {
    "gated": "gated:Gated",
    "mlp": "mlp:MLP",
    "moe": "moe:MixtureOfExperts",
}
