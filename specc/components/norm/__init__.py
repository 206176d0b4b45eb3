"""Normalisation of the last axis.

A norm offers `lower(g, x, call)`: x of any rank over its last axis -> the same shape. `over(width)` gives its parameters
for another width than the stack's (per-head query and key norms, narrow embeddings).
"""

MEMBERS = {
    "layer": "layer:LayerNorm",
    "rms": "rms:RMSNorm",
}
