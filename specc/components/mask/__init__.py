"""Which keys a query may see.

A mask offers `visible(g, query, key, frame)`: column indices [T, 1] and [1, S] -> a bool that broadcasts to [B, 1, T, S], or None
where it hides nothing; `causal` says that keys and values can be kept; `reach` is how many keys a query sees at most, itself
included; `pairs` how many of a whole sequence. Padding is the frame's business: it is hidden last, whatever a mask shows.

To add one: a file here, its line below, a template of the same name, and a test. Nothing else.
"""

MEMBERS = {
    "bidirectional": "bidirectional:Bidirectional",
    "causal": "causal:Causal",
    "chunked": "chunked:Chunked",
    "documents": "documents:Documents",
    "prefix": "prefix:Prefix",
    "sliding": "sliding:Sliding",
    "window": "window:Window",
    "with_global": "with_global:WithGlobal",
}
