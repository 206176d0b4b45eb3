"""Which experts a token goes to, and with what weight.

A router offers `lower(g, x, experts, top_k, call)`: x [N, C] -> weights [N, top_k] and the experts' numbers [N, top_k] (int64);
`size(experts, dims)` gives its parameters; `specc.components.router.base.Router` what a router may say otherwise.
"""

MEMBERS = {
    "expert_choice": "expert_choice:ExpertChoice",
    "sigmoid": "sigmoid:Sigmoid",
    "softmax": "softmax:Softmax",
    "sparsemixer": "sparsemixer:SparseMixer",
    "switch": "switch:Switch",
}
