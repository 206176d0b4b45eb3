"""Which experts a token goes to, and with what weight.

A router offers `lower(g, x, experts, top_k)`: x [N, C] -> weights [N, top_k] and the experts' numbers [N, top_k] (int64);
`size(experts, dims)` gives its parameters; `weight_on` says whether the weight multiplies what an expert reads or makes.
"""

MEMBERS = {
    "sigmoid": "sigmoid:Sigmoid",
    "softmax": "softmax:Softmax",
}
