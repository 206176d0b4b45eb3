"""Which keys a query may see.

A mask offers `visible(g, query, key)`: column indices [T, 1] and [1, S] -> bool [T, S], or None where it hides nothing;
`causal` says that no query sees a later key, so that keys and values can be kept; `reach` is how many keys a query sees
at most, itself included. Padding is the frame's business.
"""

MEMBERS = {
    "bidirectional": "bidirectional:Bidirectional",
    "causal": "causal:Causal",
    "sliding": "sliding:Sliding",
}
